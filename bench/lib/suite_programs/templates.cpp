// What bench/run suite has g++ compile: standard headers and what they are instantiated with.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

template <int N> struct Key {
    int value;
    bool operator<(const Key &other) const {
        return value < other.value;
    }
};

template <int N> std::string describe(int count) {
    std::map<Key<N>, std::vector<std::pair<std::string, int>>> byKey;
    std::unordered_map<std::string, std::shared_ptr<Key<N>>> byName;
    for (int i = 0; i < count; i++) {
        byKey[Key<N>{i % N}].emplace_back(std::to_string(i), i);
        byName.emplace(std::to_string(i), std::make_shared<Key<N>>(Key<N>{i}));
    }
    std::function<std::string(const Key<N> &)> name = [&](const Key<N> &key) {
        std::ostringstream out;
        for (const auto &[text, number] : byKey[key])
            out << text << number;
        return out.str();
    };
    std::vector<std::tuple<Key<N>, std::string>> rows;
    for (const auto &entry : byKey)
        rows.emplace_back(entry.first, name(entry.first));
    std::sort(rows.begin(), rows.end(),
              [](const auto &a, const auto &b) { return std::get<1>(a) < std::get<1>(b); });
    return rows.empty() ? std::to_string(byName.size()) : std::get<1>(rows.back());
}

std::string all(int count) {
    return describe<2>(count) + describe<3>(count);
}
