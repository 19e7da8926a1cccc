-- What SQLite's shell reads of nodes.csv and edges.csv, against the database "other", which --format sqlite wrote: each row that
-- differs in anything. Names with NUL, which
-- is U+FFFD in CSV, are not compared.
.mode list
CREATE TABLE node_read(id INTEGER, name TEXT, type TEXT, self_size INTEGER, edge_count INTEGER, retained_size INTEGER,
  dominator INTEGER, address INTEGER);
CREATE TABLE edge_read(from_node INTEGER, to_node INTEGER, type TEXT, name_or_index TEXT);
.import --csv --skip 1 nodes.csv node_read
.import --csv --skip 1 edges.csv edge_read
ATTACH 'other.db' AS other;
SELECT 'nodes', (SELECT count(*) FROM node_read), (SELECT count(*) FROM other.node_)
 WHERE (SELECT count(*) FROM node_read) <> (SELECT count(*) FROM other.node_);
SELECT 'edges', (SELECT count(*) FROM edge_read), (SELECT count(*) FROM other.edge_)
 WHERE (SELECT count(*) FROM edge_read) <> (SELECT count(*) FROM other.edge_);
SELECT 'node', * FROM node_read r JOIN other.node n ON n.number = r.rowid - 1
 WHERE r.id <> n.id OR r.name <> n.name AND instr(CAST(n.name AS BLOB), x'00') = 0 OR r.type <> n.type OR r.self_size <> n.self_size
  OR r.edge_count <> n.edge_count OR r.retained_size <> n.retained_size OR r.dominator <> coalesce(n.dominator, '')
  OR r.address <> coalesce(n.address, '') LIMIT 5;
SELECT 'edge', * FROM edge_read r JOIN other.edge e ON e.number = r.rowid - 1
 WHERE r.from_node <> e.from_node OR r.to_node <> e.to_node OR r.type <> e.type
  OR r.name_or_index <> CAST(e.name_or_index AS TEXT) AND instr(CAST(e.name_or_index AS BLOB), x'00') = 0 LIMIT 5;
