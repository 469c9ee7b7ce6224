// fallow/allocator.hpp: containers get their memory from Fallow and give it back there.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <fallow/allocator.hpp>

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            std::fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                                \
        }                                                                                \
    } while (0)

namespace {

template <class T> using vector = std::vector<T, fallow::allocator<T>>;
using string = std::basic_string<char, std::char_traits<char>, fallow::allocator<char>>;

bool is_fallow(const void *p) {
    return fallow_usable_size(p) > 0;
}

struct alignas(256) wide {
    char bytes[300];
};

void containers() {
    vector<int> numbers;
    for (int i = 0; i < 100000; i++)
        numbers.push_back(i);
    CHECK(is_fallow(numbers.data()) && numbers[99999] == 99999);
    std::map<string, vector<string>, std::less<>,
             fallow::allocator<std::pair<const string, vector<string>>>>
        map;
    for (int i = 0; i < 3000; i++)
        map[string(static_cast<size_t>(i % 100) + 30, 'x')].push_back(string(100, 'y'));
    CHECK(map.size() == 100 && is_fallow(&*map.begin()) && is_fallow(map.begin()->first.data()));
    std::list<double, fallow::allocator<double>> list(1000, 1.5), other(10, 2.5);
    list.splice(list.end(), other); // any may free what another has allocated
    CHECK(list.size() == 1010 && other.empty());
    std::unordered_map<int, int, std::hash<int>, std::equal_to<>,
                       fallow::allocator<std::pair<const int, int>>>
        hash;
    for (int i = 0; i < 10000; i++)
        hash[i] = i;
    CHECK(hash.at(777) == 777);
    auto shared = std::allocate_shared<std::string>(fallow::allocator<char>(), "text");
    CHECK(*shared == "text");
}

void alignments() {
    vector<wide> wides(50);
    for (const wide &w : wides)
        CHECK(reinterpret_cast<std::uintptr_t>(&w) % 256 == 0);
    for (size_t alignment = 1; alignment <= 1 << 21; alignment *= 2) {
        void *p = fallow::resource()->allocate(100, alignment);
        CHECK(is_fallow(p) && reinterpret_cast<std::uintptr_t>(p) % alignment == 0);
        fallow::resource()->deallocate(p, 100, alignment);
    }
}

void resources() {
    std::pmr::vector<std::pmr::string> strings(fallow::resource());
    for (int i = 0; i < 1000; i++)
        strings.emplace_back(200, 'z');
    CHECK(is_fallow(strings.data()) && is_fallow(strings[999].data()));
    fallow::memory_resource another;
    CHECK(*fallow::resource() == another && another == *fallow::resource());
    CHECK(!(another == *std::pmr::new_delete_resource()));
    std::pmr::monotonic_buffer_resource buffer(fallow::resource());
    std::pmr::list<int> list(&buffer);
    for (int i = 0; i < 1000; i++)
        list.push_back(i);
    CHECK(list.size() == 1000);
    CHECK(fallow::resource() == fallow::resource());
}

template <class F> bool throws_bad_alloc(F f) {
    try {
        f();
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

void failures() {
    volatile std::size_t most = SIZE_MAX; // so that no compiler warns of what is meant
    CHECK(throws_bad_alloc(
        [&] { (void)fallow::allocator<wide>().allocate(most / sizeof(wide) + 1); }));
    CHECK(throws_bad_alloc([&] { (void)fallow::allocator<char>().allocate(most / 2 + 2); }));
    CHECK(throws_bad_alloc([&] { (void)fallow::resource()->allocate(most / 2 + 2, 64); }));
    static_assert(std::allocator_traits<fallow::allocator<int>>::is_always_equal::value,
                  "stateless");
    CHECK(fallow::allocator<int>() == fallow::allocator<char>());
}

void threads() {
    vector<string> made;
    std::thread maker([&] {
        for (int i = 0; i < 5000; i++)
            made.push_back(string(static_cast<size_t>(i % 700), 'm'));
    });
    maker.join();
    size_t sum = 0;
    for (const string &s : made)
        sum += s.size();
    made.clear();
    made.shrink_to_fit();
    CHECK(sum > 1000000);
}

} // namespace

int main() try {
    containers();
    alignments();
    resources();
    failures();
    threads();
    return 0;
} catch (const std::exception &e) {
    std::fprintf(stderr, "failed: %s\n", e.what());
    return 1;
}
