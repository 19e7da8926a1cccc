// Makes a screenshot smaller: at most 256 colours, which pictures of text and tables hardly exceed.
//
//   withPalette(png)      takes and returns the bytes of a PNG with 8 bits per channel, as Chromium writes it

import {deflateSync, inflateSync} from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MOST = 256;

function* chunksOf(png) {
  for (let at = signature.length, length; at < png.length; at += length + 12) {
    length = png.readUInt32BE(at);
    yield {type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length)};
  }
}

/** Undoes the filters of rows: each byte is stored as the difference from the one to the left, above, or both. */
function unfiltered(bytes, rowSize, height, size) {
  const rows = Buffer.alloc(rowSize * height);
  for (let y = 0, from = 0; y < height; y++) {
    const filter = bytes[from++];
    for (let x = 0, at = y * rowSize; x < rowSize; x++, at++) {
      const left = x >= size ? rows[at - size] : 0, above = y > 0 ? rows[at - rowSize] : 0, corner = x >= size && y > 0 ? rows[at - rowSize - size] : 0;
      const guess = left + above - corner, far = [left, above, corner].map(each => Math.abs(guess - each));
      const paeth = far[0] <= far[1] && far[0] <= far[2] ? left : far[1] <= far[2] ? above : corner;
      rows[at] = bytes[from++] + [0, left, above, (left + above) >> 1, paeth][filter];
    }
  }
  return rows;
}

const crcs = Uint32Array.from({length: 256}, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? byte >>> 1 ^ 0xedb88320 : byte >>> 1;
  return byte;
});
const crc32 = bytes => ~bytes.reduce((crc, byte) => crcs[(crc ^ byte) & 255] ^ crc >>> 8, ~0) >>> 0;

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]), bytes = Buffer.alloc(body.length + 8);
  bytes.writeUInt32BE(data.length);
  body.copy(bytes, 4);
  bytes.writeUInt32BE(crc32(body), body.length + 4);
  return bytes;
}

/** The most frequent colours, and for each colour the nearest of these. */
function paletteOf(counts) {
  const colours = [...counts].sort(([one, often], [other, less]) => less - often || one - other).map(([colour]) => colour), palette = colours.slice(0, MOST);
  const parts = colour => [colour >> 16, colour >> 8 & 255, colour & 255];
  const distance = (one, other) => parts(one).reduce((sum, part, i) => sum + (part - parts(other)[i]) ** 2, 0);
  const nearest = colour => palette.reduce((best, each, i) => distance(each, colour) < distance(palette[best], colour) ? i : best, 0);
  return {palette, index: new Map(colours.map((colour, i) => [colour, i < MOST ? i : nearest(colour)]))};
}

export function withPalette(png) {
  const chunks = [...chunksOf(png)], {data: head} = chunks.find(({type}) => type === 'IHDR');
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)], size = {2: 3, 6: 4}[head[9]];
  if (head[8] !== 8 || !size || head[12] !== 0) return png;
  const rows = unfiltered(inflateSync(Buffer.concat(chunks.filter(({type}) => type === 'IDAT').map(({data}) => data))), width * size, height, size);
  const colours = new Uint32Array(width * height), counts = new Map();
  for (let i = 0; i < colours.length; i++) {
    colours[i] = rows[i * size] << 16 | rows[i * size + 1] << 8 | rows[i * size + 2];
    counts.set(colours[i], (counts.get(colours[i]) ?? 0) + 1);
  }
  const {palette, index} = paletteOf(counts), pixels = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) pixels[y * (width + 1) + 1 + x] = index.get(colours[y * width + x]);
  const newHead = Buffer.from(head);
  newHead[9] = 3; // pixels are indices of the palette
  const smaller = Buffer.concat([signature, chunk('IHDR', newHead), chunk('PLTE', Buffer.from(palette.flatMap(colour => [colour >> 16, colour >> 8 & 255, colour & 255]))),
    chunk('IDAT', deflateSync(pixels, {level: 9})), chunk('IEND', Buffer.alloc(0))]);
  return smaller.length < png.length ? smaller : png;
}
