// What the daemons of tests/daemons/daemons.test.mjs are: how each one is started, on free ports of the loopback only, in an empty
// directory, and how it is used.

import {mkdirSync, writeFileSync} from 'node:fs';
import http from 'node:http';
import net from 'node:net';

const agent = new http.Agent({keepAlive: true, maxSockets: 24});

/** Sends a request, and reads the answer to its end; returns the status, 0 if there was no answer, and the headers. */
export function request(port, method, path, body, headers = {}) {
  return new Promise(resolve => {
    const sent = http.request({host: '127.0.0.1', port, method, path, headers, agent}, answer => {
      answer.resume();
      answer.on('end', () => resolve({status: answer.statusCode, headers: answer.headers}));
      answer.on('error', () => resolve({status: 0, headers: {}}));
    });
    sent.setTimeout(60_000, () => sent.destroy());
    sent.on('error', () => resolve({status: 0, headers: {}}));
    sent.end(body);
  });
}
const get = (port, path) => request(port, 'GET', path);
const json = (port, path, value) => request(port, 'POST', path, JSON.stringify(value), {'content-type': 'application/json'});
const base64 = text => Buffer.from(String(text)).toString('base64');

/** A connection to a NATS server, which subscribes to a subject of its own. */
const natsClients = [];
function natsClient(port, i) {
  const client = net.connect(port, '127.0.0.1');
  client.on('error', () => {});
  client.on('data', data => { if (data.includes('PING\r\n')) client.write('PONG\r\n'); });
  client.write(`CONNECT {"verbose":false,"name":"client ${i}"}\r\nSUB orders.${i} 1\r\nSUB all.> 2\r\n`);
  natsClients.push(client);
}

/**
 * The daemons by their packages: program: the file; files: what is written to its directory; args: of its command; ready: a path
 * that the first of its ports answers once it is ready, with readyStatus or success; use: one use of many, the i-th; least: how many
 * percent must be typed, by suite, if fewer than usual; holders: pairs of a class, and what holds all of its objects according to the
 * daemon's source. ports are three free ones.
 */
export const daemons = {
  prometheus: {
    program: 'usr/bin/prometheus',
    holders: [['[]tsdb.stripeLock', 'tsdb.stripeSeries'], ['tsdb.stripeSeries', 'tsdb.Head'], ['tsdb.memSeries', 'tsdb.Head'],
      ['scrape.scrapeLoop', 'scrape.Manager'], ['scrape.cacheEntry', 'scrape.scrapeCache'], ['endpoints.serviceEndpoints', 'endpoints']],
    files: ports => ({
      'prometheus.yml': `global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: self\n  static_configs:\n  - targets: ['127.0.0.1:${ports[0]}']\n` +
        'rule_files: [rules.yml]\n',
      'rules.yml': 'groups:\n- name: rules\n  interval: 1s\n  rules:\n  - record: requests:rate1m\n    expr: sum by (handler) (rate(prometheus_http_requests_total[1m]))\n',
    }),
    args: ports => ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=127.0.0.1:${ports[0]}`],
    ready: '/-/ready',
    use: (ports, i) => get(ports[0], ['/metrics', '/api/v1/query?query=sum(up)', '/api/v1/label/__name__/values', '/api/v1/targets',
      '/api/v1/query_range?query=rate(prometheus_http_requests_total[1m])&start=' + (Date.now() / 1000 - 60) + '&end=' + Date.now() / 1000 + '&step=1'][i % 5]),
  },
  'prometheus-node-exporter': {
    program: 'usr/bin/prometheus-node-exporter',
    args: ports => [`--web.listen-address=127.0.0.1:${ports[0]}`],
    ready: '/',
    use: (ports, i) => get(ports[0], i % 4 === 0 ? '/metrics' : '/'),
  },
  'prometheus-pushgateway': {
    program: 'usr/bin/prometheus-pushgateway',
    args: ports => [`--web.listen-address=127.0.0.1:${ports[0]}`],
    ready: '/-/ready',
    use: (ports, i) => i % 10 === 9 ? get(ports[0], '/metrics')
      : request(ports[0], 'PUT', `/metrics/job/job${i % 300}/instance/host${i % 7}`, `# TYPE jobs_done counter\njobs_done{kind="k${i % 50}"} ${i}\n`),
  },
  'etcd-server': {
    program: 'usr/bin/etcd',
    holders: [['mvcc.keyIndex', 'mvcc.treeIndex'], ['lease.Lease', 'lease.lessor']],
    args: ports => ['--data-dir=data', `--listen-client-urls=http://127.0.0.1:${ports[0]}`, `--advertise-client-urls=http://127.0.0.1:${ports[0]}`,
      `--listen-peer-urls=http://127.0.0.1:${ports[1]}`, `--initial-advertise-peer-urls=http://127.0.0.1:${ports[1]}`,
      `--initial-cluster=default=http://127.0.0.1:${ports[1]}`],
    ready: '/health',
    use: (ports, i) => i % 4 === 3 ? json(ports[0], '/v3/kv/range', {key: base64(`key ${i - 1}`)})
      : i % 50 === 4 ? json(ports[0], '/v3/lease/grant', {TTL: 600})
      : json(ports[0], '/v3/kv/put', {key: base64(`key ${i}`), value: base64(`value ${i} `.repeat(10))}),
  },
  'nats-server': {
    program: 'usr/sbin/nats-server',
    args: ports => ['-a', '127.0.0.1', '-p', `${ports[1]}`, '-m', `${ports[0]}`],
    ready: '/varz',
    use: (ports, i) => {
      if (natsClients.length < 40) natsClient(ports[1], natsClients.length);
      const text = `message ${i}`;
      natsClients[i % natsClients.length].write(`PUB orders.${i % 40} ${text.length}\r\n${text}\r\nPUB all.${i % 1000} ${text.length}\r\n${text}\r\n`);
      return get(ports[0], ['/connz?subs=1', '/subsz', '/varz'][i % 3]);
    },
  },
  caddy: {
    program: 'usr/bin/caddy',
    files: ports => ({'caddy.json': JSON.stringify({
      admin: {listen: `127.0.0.1:${ports[1]}`},
      apps: {http: {servers: {s: {listen: [`127.0.0.1:${ports[0]}`], automatic_https: {disable: true}, routes: [
        {match: [{path: ['/file/*']}], handle: [{handler: 'encode', encodings: {gzip: {}}}, {handler: 'file_server', root: '.'}]},
        {handle: [{handler: 'encode', encodings: {gzip: {}}}, {handler: 'static_response', body: 'hello '.repeat(200)}]}]}}}},
    })}),
    args: () => ['run', '--config', 'caddy.json'],
    ready: '/',
    use: (ports, i) => i % 20 === 19 ? get(ports[1], '/config/') : request(ports[0], 'GET', `/${i % 3 ? '' : 'file/'}${i}`, undefined, {'accept-encoding': 'gzip'}),
  },
  influxdb: {
    program: 'usr/bin/influxd',
    files: ports => ({'influx.conf': `reporting-disabled = true\nbind-address = "127.0.0.1:${ports[1]}"\n[meta]\n  dir = "meta"\n[data]\n  dir = "data"\n  wal-dir = "wal"\n` +
      `[http]\n  bind-address = "127.0.0.1:${ports[0]}"\n  log-enabled = false\n[monitor]\n  store-enabled = false\n`}),
    args: () => ['-config', 'influx.conf'],
    ready: '/ping',
    use: (ports, i) => i === 0 ? request(ports[0], 'POST', '/query?q=CREATE%20DATABASE%20d')
      : i % 10 === 9 ? get(ports[0], '/query?db=d&q=SELECT%20mean(v)%20FROM%20cpu%20GROUP%20BY%20host')
      : request(ports[0], 'POST', '/write?db=d', `cpu,host=h${i % 200},zone=z${i % 5} v=${i},w="text ${i}"\nmem,host=h${i % 200} free=${i}i\n`),
  },
  'docker-registry': {
    program: 'usr/bin/docker-registry',
    holders: [['endpoints.serviceEndpoints', 'endpoints']],
    files: ports => ({'registry.yml': `version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: ./data}, cache: {blobdescriptor: inmemory}}\n` +
      `http: {addr: '127.0.0.1:${ports[0]}'}\n`}),
    args: () => ['serve', 'registry.yml'],
    ready: '/v2/',
    use: async (ports, i) => {
      if (i % 3) return get(ports[0], ['/v2/_catalog', `/v2/image${i % 50}/tags/list`][i % 2]);
      const {headers} = await request(ports[0], 'POST', `/v2/image${i % 50}/blobs/uploads/`);
      const path = headers.location && new URL(headers.location, 'http://127.0.0.1');
      return path ? request(ports[0], 'PATCH', path.pathname + path.search, `blob ${i}`, {'content-type': 'application/octet-stream'}) : {status: 0};
    },
  },
  'victoria-metrics': {
    program: 'usr/bin/victoria-metrics',
    args: ports => [`-httpListenAddr=127.0.0.1:${ports[0]}`, '-storageDataPath=data', '-memory.allowedBytes=64MB'],
    ready: '/health',
    use: (ports, i) => i % 10 === 9 ? get(ports[0], '/api/v1/query?query=sum(cpu)')
      : request(ports[0], 'POST', '/api/v1/import/prometheus', `cpu{host="h${i % 300}"} ${i}\nmem{host="h${i % 300}",zone="z"} ${i}\n`),
  },
  rclone: {
    program: 'usr/bin/rclone',
    args: ports => ['rcd', `--rc-addr=127.0.0.1:${ports[0]}`, '--rc-no-auth', '--config=rclone.conf'],
    ready: '/', readyStatus: 404,
    use: (ports, i) => json(ports[0], ['/rc/list', '/core/stats', '/core/memstats', '/rc/noop', '/options/get'][i % 5], {}),
  },
  'restic-rest-server': {
    program: 'usr/bin/restic-rest-server',
    args: ports => [`--listen=127.0.0.1:${ports[0]}`, '--path=repository', '--no-auth'],
    ready: '/', readyStatus: 405,
    use: (ports, i) => i % 20 === 0 ? request(ports[0], 'POST', `/r${i % 100}/?create=true`)
      : i % 2 ? get(ports[0], `/r${i % 100}/keys/`) : request(ports[0], 'POST', `/r0/locks/${i.toString(16).padStart(64, '0')}`, `lock ${i}`),
  },
  webhook: {
    program: 'usr/bin/webhook',
    holders: [['[]hook.Hook', 'main'], ['hook.MatchRule', '[]hook.Hook']],
    files: () => ({'hooks.json': JSON.stringify(Array.from({length: 50}, (_, i) => ({id: `hook${i}`, 'execute-command': '/bin/true',
      'response-message': 'done', 'trigger-rule': {match: {type: 'value', value: `${i}`, parameter: {source: 'url', name: 'n'}}}})))}),
    args: ports => ['-hooks', 'hooks.json', '-ip', '127.0.0.1', '-port', `${ports[0]}`],
    ready: '/',
    use: (ports, i) => get(ports[0], `/hooks/hook${i % 60}?n=${i % 100}`),
  },
  ntfy: {
    program: 'usr/bin/ntfy',
    args: ports => ['serve', '--config=/dev/null', `--listen-http=127.0.0.1:${ports[0]}`, '--cache-file=cache.db', `--base-url=http://127.0.0.1:${ports[0]}`,
      '--visitor-request-limit-exempt-hosts=127.0.0.1'],
    ready: '/v1/health',
    use: (ports, i) => i % 5 ? request(ports[0], 'POST', `/topic${i % 40}`, `message ${i}`) : get(ports[0], `/topic${i % 40}/json?poll=1`),
  },
};

/** Returns so many free ports. */
export async function freePorts(count) {
  const servers = await Promise.all(Array.from({length: count}, () => new Promise((resolve, reject) => {
    const server = net.createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  })));
  const ports = servers.map(server => server.address().port);
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))));
  return ports;
}

/** Writes the files of a daemon. */
export function prepare(daemon, directory, ports) {
  mkdirSync(directory, {recursive: true});
  for (const [name, text] of Object.entries(daemon.files?.(ports) ?? {})) writeFileSync(`${directory}/${name}`, text);
}
