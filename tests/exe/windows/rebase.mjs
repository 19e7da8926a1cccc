// Writes an executable for Windows that is loaded elsewhere, as the loader of Windows does with the executable itself:
// rebase.mjs IN.exe OUT.exe BASE. Wine loads an executable where its header says. Names are those of Microsoft's PE Format.
import fs from 'node:fs';

const [from, to, base] = process.argv.slice(2);
const data = fs.readFileSync(from);
const coff = data.readUInt32LE(0x3c) + 4, optional = coff + 20;
if (data.readUInt16LE(optional) !== 0x20b) throw new Error(`${from}: is not PE32+`);
const ImageBase = optional + 24, relocations = optional + 112 + 5 * 8;
const delta = BigInt(base) - data.readBigUInt64LE(ImageBase);

const table = optional + data.readUInt16LE(coff + 16);
const sections = Array.from({length: data.readUInt16LE(coff + 2)}, (_, i) => table + i * 40).map((at) =>
  ({VirtualAddress: data.readUInt32LE(at + 12), SizeOfRawData: data.readUInt32LE(at + 16), PointerToRawData: data.readUInt32LE(at + 20)}));
const offset = (address) => {
  const section = sections.find((s) => address >= s.VirtualAddress && address < s.VirtualAddress + s.SizeOfRawData);
  return address - section.VirtualAddress + section.PointerToRawData;
};

const DIR64 = 10;
const start = offset(data.readUInt32LE(relocations)), end = start + data.readUInt32LE(relocations + 4);
for (let block = start, size; block < end; block += size) {
  const page = data.readUInt32LE(block);
  size = data.readUInt32LE(block + 4);
  for (let at = block + 8; at < block + size; at += 2) {
    const entry = data.readUInt16LE(at);
    if (entry >> 12 !== DIR64) continue; // the rest fills the block up
    const word = offset(page + (entry & 0xfff));
    data.writeBigUInt64LE(BigInt.asUintN(64, data.readBigUInt64LE(word) + delta), word);
  }
}
data.writeBigUInt64LE(BigInt(base), ImageBase);
fs.writeFileSync(to, data);
