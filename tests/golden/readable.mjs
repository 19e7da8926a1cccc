// Shows outputs as lines, so that diff shows what has changed in them: snapshots node by node, pprof's protocol buffers field by
// field, hprof record by record, everything else as it is or, if it is binary, in hexadecimal.

const types = ['hidden', 'array', 'string', 'object', 'code', 'closure', 'regexp', 'number', 'native', 'synthetic', 'concatenated string', 'sliced string'];
const edges = ['context', 'element', 'property', 'internal', 'hidden', 'shortcut', 'weak'];

/** A snapshot: a line for each node and each edge, with names and ids instead of indexes. */
function snapshot(bytes) {
  const { snapshot: header, nodes, edges: list, strings, ...rest } = JSON.parse(bytes);
  const { meta: _, ...facts } = header;
  const lines = [JSON.stringify(facts)];
  let edge = 0;
  for (let i = 0; i < nodes.length; i += 7) {
    const [type, name, id, size, count, site, state] = nodes.slice(i, i + 7);
    lines.push(`@${id} ${types[type] ?? type} ${strings[name]} ${size}${site || state ? ` ${site} ${state}` : ''}`);
    for (let end = edge + 3 * count; edge < end; edge += 3) {
      const label = [1, 4].includes(list[edge]) ? `[${list[edge + 1]}]` : strings[list[edge + 1]];
      lines.push(`    ${edges[list[edge]]} ${label} → @${nodes[list[edge + 2] + 2]}`);
    }
  }
  return [...lines, JSON.stringify(rest)].join('\n');
}

const printable = (bytes) => /^[\x20-\x7e]+$/.test(bytes.toString('latin1')) && JSON.stringify(bytes.toString('latin1'));

/** The fields of a protocol buffer, as [number, value]; null if the bytes are none. */
export function fieldsOf(bytes) {
  const fields = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; at < bytes.length; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
    return null;
  };
  while (at < bytes.length) {
    const key = varint();
    const value = key === null || (key & 5n) ? null : varint(); // pprof has numbers and bytes only
    if (value === null) return null;
    if ((key & 7n) === 0n) fields.push([Number(key >> 3n), value]);
    else if (Number(value) > bytes.length - at) return null;
    else fields.push([Number(key >> 3n), bytes.subarray(at, at += Number(value))]);
  }
  return fields;
}

/** A profile: its messages as field numbers and values, packed numbers in hexadecimal. */
function profile(bytes) {
  const show = ([number, value]) => (typeof value === 'bigint' ? `${number}: ${value}`
    : `${number}: ${printable(value) || (fieldsOf(value)?.length ? `{ ${fieldsOf(value).map(show).join(' ')} }` : value.toString('hex'))}`);
  return fieldsOf(bytes)?.map(show).join('\n');
}

function hex(bytes) {
  const lines = [];
  for (let i = 0; i < bytes.length; i += 16) {
    const row = bytes.subarray(i, i + 16);
    lines.push(`${row.toString('hex').replace(/(.{8})(?=.)/g, '$1 ').padEnd(35)}  ${row.toString('latin1').replace(/[^\x20-\x7e]/g, '.')}`);
  }
  return lines.join('\n');
}

/** A Java heap dump: strings as such, other records in hexadecimal. */
function hprof(bytes) {
  const lines = [];
  let at = bytes.indexOf(0) + 13;
  while (at + 9 <= bytes.length) {
    const [tag, length] = [bytes[at], bytes.readUInt32BE(at + 5)];
    const body = bytes.subarray(at + 9, at += 9 + length);
    lines.push(tag === 1 ? `string ${body.subarray(0, 8).toString('hex')} ${body.subarray(8)}` : `record ${tag} of ${length} bytes\n${hex(body)}`);
  }
  return lines.join('\n');
}

function show(bytes) {
  const start = bytes.subarray(0, 16).toString('latin1');
  if (start.startsWith('{"snapshot":')) return snapshot(bytes);
  if (start.startsWith('JAVA PROFILE')) return hprof(bytes);
  if (!bytes.includes(0)) return bytes.toString('utf8');
  return profile(bytes) ?? hex(bytes);
}

/** Returns a result of golden.mjs as lines: understood, or if that hides the difference, as it is. */
export function readable({ outputs, said, status }, isUnderstood) {
  const parts = outputs.map(({ name, bytes, rows }) => {
    let text;
    try {
      text = isUnderstood && !rows ? show(bytes) : undefined;
    } catch { /* it is damaged: as it is */ }
    const plain = rows ?? bytes;
    return `${name && `== ${name}\n`}${text ?? (plain.includes(0) ? hex(plain) : plain.toString('utf8').replaceAll('\n,', '\n,'))}`;
  });
  return `${parts.join('\n')}\n== said\n${said}status ${status}\n`;
}
