// Prints how many objects and stacks each class has, the most frequent class first, in C++17:
// classes DUMP [EXE]
#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <go2heapsnapshot/go2heapsnapshot.h>

// Throws an error of the library as an exception.
static void check(g2h_error *error)
{
    if (!error)
        return;
    const std::unique_ptr<g2h_error, void (*)(g2h_error *)> owner(error, g2h_error_destroy);
    throw std::runtime_error(error->message);
}

// Owns what the library has made, until the end of the block.
template <class T, void destroy(T *)> struct owned {
    T *made = nullptr;
    owned() = default;
    owned(const owned &) = delete;
    owned &operator=(const owned &) = delete;
    ~owned()
    {
        destroy(made);
    }
    T **ret()
    {
        return &made;
    }
    operator T *() const
    {
        return made;
    }
};

static std::string class_of(const g2h_view *view, const g2h_node &node)
{
    if (node.kind == G2H_NODE_TEXT)
        return "(string)";
    std::size_t size;
    const char *name = g2h_view_name(view, node.name, &size);
    return std::string(name, size);
}

static std::map<std::string, std::uint64_t> count(const g2h_view *view)
{
    std::map<std::string, std::uint64_t> classes;
    std::array<g2h_node, 256> nodes;
    for (std::uint32_t first = 0; first < g2h_view_node_count(view); first += nodes.size()) {
        const std::size_t read = g2h_view_nodes(view, first, nodes.size(), nodes.data());
        for (std::size_t i = 0; i < read; i++)
            if (nodes[i].size > 0) // other nodes, such as roots, have no size
                classes[class_of(view, nodes[i])]++;
    }
    return classes;
}

static void print(const std::map<std::string, std::uint64_t> &classes)
{
    std::vector<std::pair<std::string, std::uint64_t>> sorted(classes.begin(), classes.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto &a, const auto &b) { return a.second > b.second; });
    for (auto &[name, objects] : sorted) {
        name.resize(g2h_printable(name.data(), name.size())); // names may contain anything
        std::cout << objects << ' ' << name << '\n';
    }
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 3)
        return 2;
    try {
        owned<g2h_session, g2h_close> session;
        check(g2h_open(argv[1], argv[2], nullptr, session.ret()));
        print(count(g2h_session_view(session)));
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return std::cout.flush() ? 0 : 1;
}
