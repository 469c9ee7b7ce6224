"""Python's part of bench/run suite: dicts, strings, lists and small objects, grown, reshaped and let go."""


class Item:
    __slots__ = ("name", "tags", "size")

    def __init__(self, number):
        self.name = f"item-{number:07}"
        self.tags = [f"tag{number % 97}", f"group{number % 1009}"]
        self.size = number * 31 % 4093


def index(items):
    by_tag = {}
    for item in items:
        for tag in item.tags:
            by_tag.setdefault(tag, []).append(item)
    return {tag: sorted(members, key=lambda item: item.size) for tag, members in by_tag.items()}


def text(items):
    lines = [",".join((item.name, *item.tags, str(item.size))) for item in items]
    return sum(len(field) for line in "\n".join(lines).split("\n") for field in line.split(","))


def main():
    kept, total = {}, 0
    for turn in range(8):
        items = [Item(number) for number in range(turn * 5000, turn * 5000 + 25000)]
        kept[turn % 3] = index(items)
        total += text(items)
    buffer = bytearray()
    for number in range(60000):
        buffer += b"%d " % number
    words = bytes(buffer).split()
    print(total, len({word[:3] for word in words}), sum(len(members) for members in kept[0].values()))


main()
