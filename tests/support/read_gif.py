# A moving picture beside the stills of the same frames: `read_gif.py FILE.gif FOLDER` prints, as JSON, the size, the delays, how often it is
# played, and how far its frames are off the PNG files of the folder, in order: the mean and the largest difference of a level of 255.
import glob, json, os, struct, sys, zlib


def unpack(data, smallest):
    """Numbers of colours from LZW codes of a growing width, the lowest bit first."""
    clear, end = 1 << smallest, (1 << smallest) + 1
    out, table, width, before, at = bytearray(), [], 0, None, 0
    while True:
        if not table:
            table, width = [bytes([i]) for i in range(clear)] + [b"", b""], smallest + 1
        code = int.from_bytes(data[at >> 3:(at >> 3) + 3], "little") >> (at & 7) & ((1 << width) - 1)
        at += width
        if code == clear:
            table, before = [], None
            continue
        if code == end:
            return bytes(out)
        word = table[code] if code < len(table) else before + before[:1]
        out += word
        if before is not None and len(table) < 4096:
            table.append(before + word[:1])
        if len(table) == 1 << width and width < 12:
            width += 1
        before = word


def blocks(data, at):
    out = b""
    while data[at]:
        out += data[at + 1:at + 1 + data[at]]
        at += 1 + data[at]
    return out, at + 1


def read_gif(path):
    """Width, height, repetitions (0: for ever), delays, and frames as lists of RGB triples."""
    data = open(path, "rb").read()
    assert data[:6] == b"GIF89a"
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    assert flags & 0x80
    count = 2 << (flags & 7)
    palette = [tuple(data[13 + 3 * i:16 + 3 * i]) for i in range(count)]
    at, delays, frames, loops, clear = 13 + 3 * count, [], [], None, None
    canvas = [None] * (width * height)
    while data[at] != 0x3B:
        if data[at] == 0x21:
            label = data[at + 1]
            body, at = blocks(data, at + 2)
            if label == 0xF9:
                delays.append(struct.unpack_from("<H", body, 1)[0])
                clear = body[3] if body[0] & 1 else None
            elif body[:11] == b"NETSCAPE2.0":
                loops = struct.unpack_from("<H", body, 12)[0]
            continue
        left, top, wide, high, flags = struct.unpack_from("<HHHHB", data, at + 1)
        assert data[at] == 0x2C and flags == 0 and left + wide <= width and top + high <= height
        body, after = blocks(data, at + 11)
        numbers = unpack(body, data[at + 10])
        assert len(numbers) == wide * high
        for row in range(high):
            for column in range(wide):
                number = numbers[row * wide + column]
                if number != clear:
                    canvas[(top + row) * width + left + column] = palette[number]
        frames.append(list(canvas))
        at = after
    assert at == len(data) - 1
    return width, height, loops, delays, frames


def read_png(path):
    """Width, height and a list of RGB triples of a picture of 8 bits a channel that is not interlaced."""
    data = open(path, "rb").read()
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height = struct.unpack_from(">II", body)
            assert body[8:] == b"\x08\x02\0\0\0"
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    plain, stride = zlib.decompress(packed), 3 * width
    above, out = bytearray(stride), []
    for y in range(height):
        kind, row = plain[y * (stride + 1)], bytearray(plain[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            a, b, c = row[i - 3] if i > 2 else 0, above[i], above[i - 3] if i > 2 else 0
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[i] = row[i] + (0, a, b, (a + b) // 2, nearest)[kind] & 255
        out += [tuple(row[i:i + 3]) for i in range(0, stride, 3)]
        above = row
    return width, height, out


if __name__ == "__main__":
    width, height, loops, delays, frames = read_gif(sys.argv[1])
    stills = [read_png(path) for path in sorted(glob.glob(os.path.join(sys.argv[2], "*.png")))]
    off = []
    for frame, still in zip(frames, stills):
        levels = [abs(a - b) for p, q in zip(frame, still[2]) for a, b in zip(p, q)]
        off.append([sum(levels) / len(levels), max(levels)])
    print(json.dumps({"size": [width, height], "loops": loops, "delays": delays, "frames": len(frames), "stills": len(stills),
                      "size_of_stills": stills[0][:2] if stills else None, "colors": len(set(p for f in stills for p in f[2])), "off": off}))
