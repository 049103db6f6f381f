"""The PyTorch modules of the networks of experiments/networks/kinds_zoo.py, which says of what sizes they are."""
import functools

import torch
import torch.nn.functional as F
from torch import nn

import sizes_zoo
from networks_zoo import convolution


class Function(nn.Module):
    """A function of the inputs and of modules, as a module."""

    def __init__(self, function, *parts):
        super().__init__()
        self.function, self.parts = function, nn.ModuleList(parts)

    def forward(self, *inputs):
        return self.function(*inputs, *self.parts)


def residual(*layers):
    return Function(lambda x, layers: x + layers(x), nn.Sequential(*layers))


def classify(width, classes):
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes)]


def dcgan(code, width, levels):
    """The generator of DCGAN (Radford et al., 2016) from its code."""
    return nn.Sequential(nn.ConvTranspose2d(code, width << (levels - 1), 4, 1, 0, bias=False),
                         nn.BatchNorm2d(width << (levels - 1)), nn.ReLU(), *sizes_zoo.generator(width, levels))


def vae_decoder(code, width):
    return nn.Sequential(nn.Linear(code, 49 * width), nn.ReLU(), Function(lambda x: x.reshape(-1, width, 7, 7)),
                         nn.ConvTranspose2d(width, width // 2, 3, 2, 1, 1), nn.ReLU(),
                         nn.ConvTranspose2d(width // 2, 1, 3, 2, 1, 1), nn.Sigmoid())


def fcn(width):
    """As in fully convolutional networks (Long et al., CVPR 2015), a transposed convolution of 16 × 16 with stride 8."""
    return nn.Sequential(convolution(3, width, 3, 2), convolution(width, 2 * width, 3, 2),
                         convolution(2 * width, 4 * width, 3, 2), nn.Conv2d(4 * width, 12, 1),
                         nn.ConvTranspose2d(12, 12, 16, 8, 4))


def vocoder(width, bands):
    """From a spectrogram to sound, after HiFi-GAN (Kong et al., NeurIPS 2020)."""
    layers = [nn.Conv1d(bands, width, 7, padding=3)]
    for factor in (8, 8, 2):
        half = width // 2
        layers += [nn.LeakyReLU(.1), nn.ConvTranspose1d(width, half, 2 * factor, factor, factor // 2),
                   residual(nn.LeakyReLU(.1), nn.Conv1d(half, half, 3, padding=3, dilation=3), nn.LeakyReLU(.1),
                            nn.Conv1d(half, half, 3, padding=1))]
        width = half
    return nn.Sequential(*layers, nn.LeakyReLU(.1), nn.Conv1d(width, 1, 7, padding=3), nn.Tanh())


def text(words, width, classes, hidden=0):
    """The mean of the words' vectors, and a linear layer or two."""
    head = nn.Linear(width, classes) if not hidden else nn.Sequential(
        nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, classes))
    return Function(lambda x, table, head: F.log_softmax(head(table(x).mean(1)), -1), nn.Embedding(words, width), head)


def text_cnn(words, width, channels):
    """Kim, EMNLP 2014."""
    def run(x, table, *layers):
        x = table(x).transpose(1, 2)
        return layers[-1](torch.cat([torch.relu(layer(x)).amax(2) for layer in layers[:-1]], 1))
    return Function(run, nn.Embedding(words, width), *[nn.Conv1d(width, channels, kernel) for kernel in (3, 4, 5)],
                    nn.Linear(3 * channels, 5))


def tagger(kind, words, width, units, layers, both_ways):
    """One of 17 classes for each word."""
    return Function(lambda x, table, layers, head: head(layers(table(x))[0]), nn.Embedding(words, width),
                    kind(width, units, layers, batch_first=True, bidirectional=both_ways),
                    nn.Linear(units * (1 + both_ways), 17))


def sensor(kind, inputs, units, layers, both_ways, classes):
    """A class of a whole sequence, from the last step."""
    return Function(lambda x, layers, head: head(layers(x)[0][:, -1]),
                    kind(inputs, units, layers, batch_first=True, bidirectional=both_ways),
                    nn.Linear(units * (1 + both_ways), classes))


class Attention(nn.Module):
    """Vaswani et al., NeurIPS 2017, by matrix products or by Einstein sums."""

    def __init__(self, width, heads, einsum):
        super().__init__()
        self.of_all, self.out, self.heads, self.einsum = nn.Linear(width, 3 * width), nn.Linear(width, width), heads, einsum

    def forward(self, x):
        batch, tokens, width = x.shape
        own = width // self.heads
        if self.einsum:
            q, k, v = [part.view(batch, tokens, self.heads, own) for part in self.of_all(x).chunk(3, -1)]
            weights = torch.einsum("bnhd,bmhd->bhnm", q, k).mul(own ** -.5).softmax(-1)
            return self.out(torch.einsum("bhnm,bmhd->bnhd", weights, v).reshape(batch, tokens, width))
        q, k, v = self.of_all(x).view(batch, tokens, 3, self.heads, own).permute(2, 0, 3, 1, 4).unbind(0)
        weights = (q @ k.transpose(-1, -2) * own ** -.5).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, tokens, width))


def transformer(entry, width, heads, layers, einsum=False):
    parts = [entry(width)]
    for _ in range(layers):
        parts += [residual(nn.LayerNorm(width), Attention(width, heads, einsum)),
                  residual(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))]
    return nn.Sequential(*parts, nn.LayerNorm(width), Function(lambda x: x.mean(1)), nn.Linear(width, 10))


def of_words(words, *values):
    return transformer(functools.partial(nn.Embedding, words), *values)


def of_vectors(inputs, *values):
    return transformer(functools.partial(nn.Linear, inputs), *values, einsum=True)


def linear_attention(width, layers):
    """Katharopoulos et al., ICML 2020, by Einstein sums."""
    def run(x, q, k, v):
        q, k, v = F.elu(q(x)) + 1, F.elu(k(x)) + 1, v(x)
        scale = 1 / (torch.einsum("bnd,bd->bn", q, k.sum(1)) + 1e-6)
        return torch.einsum("bnd,bde,bn->bne", q, torch.einsum("bnd,bne->bde", k, v), scale)
    return nn.Sequential(*[residual(nn.LayerNorm(width), Function(run, *[nn.Linear(width, width) for _ in range(3)]))
                           for _ in range(layers)], nn.Linear(width, 8))


def no_norm(_):
    return nn.Identity()


def mlp(widths, norm, activation):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), norm(b), activation()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], 10))


def siren(width, layers):
    """Sitzmann et al., NeurIPS 2020."""
    parts = []
    for i in range(layers):
        parts += [nn.Linear(width if i else 2, width), Function(lambda x: torch.sin(30 * x))]
    return nn.Sequential(*parts, nn.Linear(width, 3))


def wide_convolution(width, kernel, classes):
    """A wide kernel on sound as it is sampled."""
    return nn.Sequential(nn.Conv1d(1, width, kernel, 4), nn.LeakyReLU(.2), nn.MaxPool1d(3), nn.Conv1d(width, 2 * width, 5),
                         nn.LeakyReLU(.2), nn.MaxPool1d(3), nn.Flatten(2), Function(lambda x: x.mean(2)),
                         nn.Linear(2 * width, classes))


def wavenet(width, layers):
    """van den Oord et al., 2016: gated, dilated convolutions of the past."""
    def gated(dilation):
        def run(x, signal, gate, out):
            y = F.pad(x, (dilation, 0))
            return x + out(torch.tanh(signal(y)) * torch.sigmoid(gate(y)))
        return Function(run, nn.Conv1d(width, width, 2, dilation=dilation), nn.Conv1d(width, width, 2, dilation=dilation),
                        nn.Conv1d(width, width, 1))
    return nn.Sequential(nn.Conv1d(1, width, 1), *[gated(1 << (i % 8)) for i in range(layers)], nn.ReLU(),
                         nn.Conv1d(width, 64, 1), nn.Softmax(1))


def voxels(width, layers):
    parts, inputs = [], 1
    for i in range(layers):
        outputs = width << i
        parts += [nn.Conv3d(inputs, outputs, 3, 1, 1), nn.BatchNorm3d(outputs), nn.ReLU(), nn.MaxPool3d(2)]
        inputs = outputs
    return nn.Sequential(*parts, nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(inputs, 10))


class Unet(nn.Module):
    """A U-Net (Ronneberger et al., MICCAI 2015) that resizes where the paper has transposed convolutions."""

    def __init__(self, width, levels, mode):
        super().__init__()
        widths = [width << i for i in range(levels)]
        self.down = nn.ModuleList([convolution(a, b) for a, b in zip([3] + widths, widths)])
        self.up = nn.ModuleList([convolution(a + b, b) for a, b in zip(widths[:0:-1], widths[-2::-1])])
        self.head, self.mode = nn.Conv2d(width, 2, 1), mode
        self.corners = None if mode == "nearest" else mode == "bicubic"

    def forward(self, x):
        kept = []
        for i, layer in enumerate(self.down):
            x = layer(F.max_pool2d(x, 2) if i else x)
            kept.append(x)
        for layer, other in zip(self.up, kept[-2::-1]):
            x = F.interpolate(x, scale_factor=2., mode=self.mode, align_corners=self.corners)
            x = layer(torch.cat([x, other], 1))
        return torch.sigmoid(self.head(x))


def style(width, norm, blocks):
    """Style transfer (Johnson et al., ECCV 2016) with instance or group normalisation."""
    def padded(inputs, outputs, kernel, stride=1):
        return [nn.ReflectionPad2d(kernel // 2), nn.Conv2d(inputs, outputs, kernel, stride), norm(outputs)]
    wide = 2 * width
    return nn.Sequential(*padded(3, width, 9), nn.ReLU(), *padded(width, wide, 3, 2), nn.ReLU(),
                         *[residual(*padded(wide, wide, 3), nn.ReLU(), *padded(wide, wide, 3)) for _ in range(blocks)],
                         nn.Upsample(scale_factor=2., mode="nearest"), *padded(wide, width, 3), nn.ReLU(),
                         nn.ReflectionPad2d(4), nn.Conv2d(width, 3, 9))


def espcn(width, factor):
    """Shi et al., CVPR 2016."""
    return nn.Sequential(nn.Conv2d(1, width, 5, padding=2), nn.Tanh(), nn.Conv2d(width, width // 2, 3, padding=1), nn.Tanh(),
                         nn.Conv2d(width // 2, factor * factor, 3, padding=1), nn.PixelShuffle(factor))


def pixel_shuffle(factor):
    return nn.Sequential(nn.Conv2d(3, 3 * factor * factor, 1), nn.PixelShuffle(factor))


def grouped(width, groups, blocks):
    """Grouped convolutions and shuffled channels, after ShuffleNet (Zhang et al., CVPR 2018)."""
    def shuffle(x):
        return x.view(x.shape[0], groups, width // groups, *x.shape[2:]).transpose(1, 2).reshape(x.shape)
    return nn.Sequential(convolution(3, width, 3, 2), *[
        residual(nn.Conv2d(width, width, 1, groups=groups), nn.BatchNorm2d(width), nn.ReLU(), Function(shuffle),
                 nn.Conv2d(width, width, 3, 1, 1, groups=width), nn.Conv2d(width, width, 1, groups=groups))
        for _ in range(blocks)], *classify(width, 10))


def excitation(width, blocks, gate):
    """Squeeze and excitation (Hu et al., CVPR 2018) between depthwise convolutions and those of 1 × 1."""
    def swish(*values):
        return nn.Sequential(*convolution(*values)[:2], nn.Hardswish())
    return nn.Sequential(swish(3, width, 3, 2), *[nn.Sequential(
        swish(width, width, 3, 1, width),
        Function(lambda x, part: x * part(x.mean((2, 3), keepdim=True)), nn.Sequential(
            nn.Conv2d(width, width // 4, 1), nn.ReLU(), nn.Conv2d(width // 4, width, 1), gate())),
        swish(width, width, 1)) for _ in range(blocks)], *classify(width, 10))


def face(width, levels):
    """A vector of length one for an image of 32 × 32, with PReLU."""
    layers, inputs = [], 3
    for i in range(levels):
        outputs = width << i
        layers += [nn.Conv2d(inputs, outputs, 3, 2 if i else 1, 1), nn.PReLU(outputs),
                   residual(nn.Conv2d(outputs, outputs, 3, 1, 1), nn.PReLU(outputs))]
        inputs = outputs
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(inputs * (32 >> (levels - 1)) ** 2, 64), Function(F.normalize))


def keyword_spotting(width, blocks):
    made = sizes_zoo.keyword_spotting(width, blocks)
    return nn.Sequential(made.features, nn.AdaptiveAvgPool2d(1), nn.Flatten(), made.classifier, nn.Softmax(1))


class SpatialTransformer(nn.Module):
    """Jaderberg et al., NeurIPS 2015."""

    def __init__(self, width, size, channels):
        super().__init__()
        self.where = nn.Sequential(convolution(channels, width, 5, 4), convolution(width, width, 3, 2), *classify(width, 6))
        self.what = nn.Sequential(convolution(channels, width, 3, 2), *classify(width, 10))
        y, x = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
        self.register_buffer("base", torch.stack([x, y, torch.ones_like(x)], -1).view(1, size * size, 3))
        self.size = size

    def forward(self, x):
        grid = (self.base @ self.where(x).view(-1, 2, 3).transpose(1, 2)).view(-1, self.size, self.size, 2)
        return self.what(F.grid_sample(x, torch.tanh(grid), align_corners=False))


def warp():
    """What a given flow changes in an image."""
    return Function(lambda x, flow: F.grid_sample(x, flow, align_corners=True) - x)


def recommender(tables, rows, width, widths, numbers):
    """Vectors of categories and some numbers, and linear layers."""
    def run(indices, x, *parts):
        vectors = [table(indices[:, i]) for i, table in enumerate(parts[:-1])]
        return torch.sigmoid(parts[-1](torch.cat(vectors + [x], 1)))
    return Function(run, *[nn.Embedding(rows, width) for _ in range(tables)],
                    mlp([tables * width + numbers] + widths, no_norm, nn.ReLU))


def interactions(count, rows, width):
    """The products of all pairs of vectors, after factorisation machines (Rendle, ICDM 2010)."""
    def run(indices, table, head):
        vectors = table(indices)
        return torch.sigmoid(head((vectors @ vectors.transpose(1, 2)).flatten(1)))
    return Function(run, nn.Embedding(rows, width), nn.Linear(count * count, 1))


def gcn(inputs, width, layers):
    """Graph convolutions (Kipf and Welling, ICLR 2017) by a dense adjacency matrix."""
    def run(adjacency, x, *parts):
        for part in parts[:-1]:
            x = torch.relu(adjacency @ part(x))
        return F.log_softmax(parts[-1](x), -1)
    return Function(run, *[nn.Linear(width if i else inputs, width) for i in range(layers)], nn.Linear(width, 7))


def gat(inputs, width):
    """Attention on a graph (Velickovic et al., ICLR 2018) by a dense adjacency matrix as the mask."""
    def run(adjacency, x, entry, source, target):
        x = entry(x)
        scores = F.leaky_relu(source(x) + target(x).transpose(1, 2), .2)
        return torch.where(adjacency > 0, scores, torch.full_like(scores, -1e4)).softmax(-1) @ x
    return Function(run, nn.Linear(inputs, width), nn.Linear(width, 1), nn.Linear(width, 1))


class MessagePassing(nn.Module):
    """Gilmer et al., ICML 2017: messages are gathered by edge and summed by node."""

    def __init__(self, nodes, edges, width):
        super().__init__()
        self.message, self.update = nn.Linear(2 * width, width), nn.Linear(2 * width, width)
        self.register_buffer("source", torch.randint(nodes, (edges,)))
        self.register_buffer("target", torch.randint(nodes, (edges, 1)).expand(edges, width).contiguous())

    def forward(self, x):
        for _ in range(2):
            messages = torch.relu(self.message(torch.cat([x[self.source], x[self.target[:, 0]]], 1)))
            sums = torch.zeros_like(x).scatter_add(0, self.target, messages)
            x = torch.tanh(self.update(torch.cat([x, sums], 1)))
        return x.mean(0, keepdim=True)


def best(channels, count):
    return Function(lambda x, head: tuple(torch.topk(head(x).flatten(1).sigmoid(), count, 1)), nn.Conv2d(channels, 9, 1))


def retrieval(width, rows):
    return Function(lambda x, rows: torch.topk(rows(x), 10)[0], nn.Linear(width, rows))


def segmentation(classes, stride):
    larger = [nn.Upsample(scale_factor=2., mode="bilinear")] if stride > 1 else []
    return nn.Sequential(convolution(3, 8, 3, stride), nn.Conv2d(8, classes, 1), *larger, Function(lambda x: x.argmax(1)))


def boxes(channels):
    """The corners of boxes and the logarithms of scores, for a detector."""
    def run(x, head):
        y = head(x).flatten(2).transpose(1, 2)
        centre, size = y[..., :2].sigmoid() * 2 - .5, (y[..., 2:4].sigmoid() * 2) ** 2
        return torch.cat([centre - size / 2, centre + size / 2, torch.clamp(y[..., 4:].sigmoid(), 1e-3, .999).log()], -1)
    return Function(run, nn.Conv2d(channels, 24, 1))


def sums(channels):
    """A linear layer of statistics of a sequence."""
    def run(x, head):
        means = torch.cumsum(x, 1) / torch.arange(1, x.shape[1] + 1).view(1, -1, 1)
        return head(torch.cat([x.sum(1), x.std(1), x.amax(1), x.amin(1), (x[:, 1:] - x[:, :-1]).abs().sum(1),
                               means.square().sum(1).sqrt()], 1))
    return Function(run, nn.Linear(6 * channels, 5))


def cumulated(inputs, width):
    return Function(lambda x, layer: torch.cumsum(torch.cumsum(layer(x), 1).tanh(), 2), nn.Linear(inputs, width))


def log_sum(inputs, width):
    return Function(lambda x, layer: torch.logsumexp(layer(x), -1) - x.norm(dim=-1), nn.Linear(inputs, width))


def softmax(kind, inputs, classes):
    return nn.Sequential(nn.Linear(inputs, classes), kind(-1))
