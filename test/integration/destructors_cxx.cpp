// thread_local objects of C++ that allocate in their constructors and destructors, containers that
// outlive the allocator's own thread state, and a static object that frees at exit what threads made.

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace {

std::atomic<size_t> destroyed{0};
std::atomic<std::string *> handed{nullptr};

struct Ledger {
    std::vector<std::string> lines;
    std::unique_ptr<char[]> large{new char[500000]};

    Ledger() {
        for (int i = 0; i < 200; i++) {
            lines.push_back(std::string(static_cast<size_t>(i) * 7, 'x'));
        }
        large[499999] = 1;
    }

    ~Ledger() {
        for (int i = 0; i < 200; i++) {
            CHECK(lines[static_cast<size_t>(i)] == std::string(static_cast<size_t>(i) * 7, 'x'));
        }
        lines.resize(1000, std::string(300, 'y'));
        delete handed.exchange(new std::string(100, 'z'));
        destroyed++;
    }
};

// Destroyed after Ledger, being made before it.
struct Last {
    std::vector<size_t> numbers;

    ~Last() {
        numbers.assign(10000, 3);
        CHECK(numbers[9999] == 3);
        destroyed++;
    }
};

void body() {
    thread_local Last last;
    thread_local Ledger ledger;
    last.numbers.push_back(ledger.lines.size());
    CHECK(last.numbers.front() == 200);
}

struct AtExit {
    ~AtExit() {
        delete handed.exchange(nullptr);
    }
} at_exit;

} // namespace

int main() {
    size_t rounds = check_scaled(300);
    for (size_t i = 0; i < rounds; i++) {
        std::thread threads[4];
        for (auto &thread : threads) {
            thread = std::thread(body);
        }
        for (auto &thread : threads) {
            thread.join();
        }
    }
    CHECK_THAT(destroyed == rounds * 8, "%zu objects destroyed", destroyed.load());
    body();
    return 0;
}
