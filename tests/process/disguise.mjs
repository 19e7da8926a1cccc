// Disguises a little-endian 64-bit ELF executable, as obfuscators and strippers do:
//
//   node disguise.mjs IN OUT KIND...
//
//   version=TEXT  the version in the build information, and in the runtime where TEXT has the same length
//   names         other names for the runtime's functions
//   magic         another magic number of the pclntab
//   sections      no section headers
import { readFileSync, writeFileSync } from 'node:fs';

const [source, target, ...kinds] = process.argv.slice(2);
const file = readFileSync(source);

function version(text) {
	const at = file.indexOf(Buffer.from('\xff Go buildinf:', 'latin1'));
	const size = file[at + 32];
	const old = file.subarray(at + 33, at + 33 + size).toString('latin1');
	if (at < 0 || !old.startsWith('go1.')) throw new Error(`${source}: no version`);
	if (text.length === old.length)
		for (let found; (found = file.indexOf(old, 0, 'latin1')) >= 0; ) file.write(text, found, 'latin1');
	else file.write(`${String.fromCharCode(text.length)}${text}\0`, at + 32, 'latin1');
}

function names() {
	const prefix = Buffer.from('\0runtime.');
	for (let at = file.indexOf(prefix); at >= 0; at = file.indexOf(prefix, at + 1)) {
		const end = file.indexOf(0, at + 1);
		file.subarray(at + 1, end).reverse();
	}
}

function magic() {
	for (let at = 0; at + 8 < file.length; at += 32)
		if (file.readUInt32LE(at) === 0xfffffff1 && file.readUInt16LE(at + 4) === 0 && file[at + 7] === 8)
			file.writeUInt32LE(0x12345678, at);
}

function sections() {
	file.writeBigUInt64LE(0n, 0x28);
	file.writeUInt32LE(0, 0x3c);
}

for (const kind of kinds) {
	if (kind.startsWith('version=')) version(kind.slice('version='.length));
	else ({ names, magic, sections })[kind]();
}
writeFileSync(target, file, { mode: 0o755 });
