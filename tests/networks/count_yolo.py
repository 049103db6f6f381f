#!/usr/bin/env python3
"""Counts multiply-adds and parameters of nasbench/spaces/examples/yolo.json from the formulas of YOLOv8's blocks, without
the file and without tenshot: each block says its convolutions, each convolution k*k*in*out weights, 2*out of its batch
norm or out of its bias, and as many multiply-adds as weights at each position of its output.

    tests/networks/count_yolo.py      the lines that yolo_space_test.cpp expects
"""


class Count:
    def __init__(self):
        self.multiply_adds = self.parameters = 0

    def convolution(self, size, inputs, outputs, kernel, bias=False):
        """A convolution whose output has size * size positions; with a batch norm, or with a bias alone."""
        weights = kernel * kernel * inputs * outputs
        self.multiply_adds += weights * size * size
        self.parameters += weights + (outputs if bias else 2 * outputs)
        return outputs

    def bottlenecks(self, size, channels, first, depth):
        for _ in range(depth):
            self.convolution(size, channels, channels, first)
            self.convolution(size, channels, channels, 3)

    def c2f(self, size, inputs, outputs, depth):
        self.convolution(size, inputs, outputs, 1)
        self.bottlenecks(size, outputs // 2, 3, depth)
        return self.convolution(size, (2 + depth) * (outputs // 2), outputs, 1)

    def c3(self, size, inputs, outputs, depth):
        self.convolution(size, inputs, outputs // 2, 1)
        self.bottlenecks(size, outputs // 2, 1, depth)
        self.convolution(size, inputs, outputs // 2, 1)
        return self.convolution(size, outputs, outputs, 1)

    def detect(self, size, inputs, hidden, classes):
        for middle, outputs in ((64, 64), (hidden, classes)):
            self.convolution(size, inputs, middle, 3)
            self.convolution(size, middle, middle, 3)
            self.convolution(size, middle, outputs, 1, bias=True)


def yolo(stages, neck, width, resolution, classes=80):
    """`stages`: four of (block, depth); `neck`: four depths; the widths are multiples of 8 without rounding."""
    c = Count()
    w = [int(width * channels) for channels in (64, 128, 256, 512, 1024)]
    size, before, features = resolution // 2, w[0], []
    c.convolution(size, 3, w[0], 3)
    for (block, depth), channels in zip(stages, w[1:]):
        size //= 2
        c.convolution(size, before, channels, 3)
        before = getattr(c, block)(size, channels, channels, depth)
        features.append((size, channels))
    (s3, c3), (s4, c4), (s5, c5) = features[1:]
    c.convolution(s5, c5, c5 // 2, 1)  # SPPF: three max pools between two convolutions
    c.convolution(s5, 4 * (c5 // 2), c5, 1)
    c.c2f(s4, c5 + c4, c4, neck[0])
    c.c2f(s3, c4 + c3, c3, neck[1])
    c.convolution(s4, c3, c3, 3)
    c.c2f(s4, c3 + c4, c4, neck[2])
    c.convolution(s5, c4, c4, 3)
    c.c2f(s5, c4 + c5, c5, neck[3])
    for at, channels in features[1:]:
        c.detect(at, channels, c3, classes)
    return c


def main():
    small = [("c2f", 1), ("c2f", 2), ("c2f", 2), ("c2f", 1)]
    mixed = [("c3", 2), ("c2f", 4), ("c3", 6), ("c2f", 3)]
    for name, count in (
        ("c2f|depth1|c2f|depth2|c2f|depth2|c2f|depth1|depth1|depth1|depth1|depth1|w0.5|r640",
         yolo(small, (1, 1, 1, 1), 0.5, 640)),
        ("c3|depth2|c2f|depth4|c3|depth6|c2f|depth3|depth2|depth1|depth2|depth1|w0.75|r320",
         yolo(mixed, (2, 1, 2, 1), 0.75, 320))):
        print(name, count.multiply_adds, count.parameters)


if __name__ == "__main__":
    main()
