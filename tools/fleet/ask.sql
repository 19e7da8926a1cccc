-- What comes out of a collector's database goes to Parquet, once; then questions.
COPY (SELECT * FROM 'tables/dump.csv') TO 'tables/dump.parquet' (COMPRESSION zstd);
COPY (SELECT * FROM 'tables/label.csv') TO 'tables/label.parquet' (COMPRESSION zstd);
COPY (SELECT * FROM 'tables/class_stat.csv') TO 'tables/class_stat.parquet' (COMPRESSION zstd);
COPY (SELECT * FROM 'tables/tree.csv') TO 'tables/tree.parquet' (COMPRESSION zstd);
COPY (SELECT * FROM 'tables/goroutine_stat.csv') TO 'tables/goroutine_stat.parquet' (COMPRESSION zstd);

CREATE VIEW dumps AS
SELECT d.*, h.value AS host, r.value AS release
  FROM 'tables/dump.parquet' d
  JOIN 'tables/label.parquet' h ON h.dump = d.id AND h.key = 'host'
  JOIN 'tables/label.parquet' r ON r.dump = d.id AND r.key = 'release';

-- Which class grew in which release: its mean, and how many times that of the release before.
WITH means AS (
  SELECT release, class, sum(c.bytes) / any_value(n) AS mean
    FROM 'tables/class_stat.parquet' c JOIN dumps ON id = c.dump
    JOIN (SELECT release, count(*) AS n FROM dumps GROUP BY release) USING (release)
   GROUP BY release, class)
SELECT release, class, mean::BIGINT AS bytes, (mean - before)::BIGINT AS more, round(mean / before, 2) AS times
  FROM (SELECT *, lag(mean) OVER (PARTITION BY class ORDER BY release) AS before FROM means)
 WHERE more > 2000 ORDER BY release, more DESC LIMIT 20;

-- Which hosts leak: those whose classes grow from night to night, and do so otherwise than on the other hosts.
WITH slopes AS (
  SELECT host, class, regr_slope(c.bytes, time / 86400) AS a_night, regr_r2(c.bytes, time / 86400) AS fit
    FROM 'tables/class_stat.parquet' c JOIN dumps ON id = c.dump
   GROUP BY host, class HAVING count(*) >= 10)
SELECT host, class, a_night::BIGINT AS bytes_a_night, round(fit, 3) AS fit
  FROM (SELECT *, median(a_night) OVER (PARTITION BY class) AS usual FROM slopes)
 WHERE fit > 0.9 AND a_night > 500 AND a_night > 4 * usual ORDER BY a_night DESC LIMIT 12;

-- And what holds what they leak: the path of the place whose bytes grow most. Garbage is not held by anything.
WITH RECURSIVE places AS (SELECT place, any_value(parent) AS parent, coalesce(any_value(name), '') AS name FROM 'tables/tree.parquet' GROUP BY place),
garbage AS (
  SELECT place FROM places WHERE name = '(unreachable)'
  UNION ALL
  SELECT p.place FROM garbage g JOIN places p ON p.parent = g.place),
grown AS (
  SELECT place, regr_slope(t.bytes, time / 86400) AS a_night
    FROM 'tables/tree.parquet' t JOIN dumps ON id = t.dump WHERE host = 'web-23' AND place NOT IN (SELECT place FROM garbage)
   GROUP BY place HAVING count(*) >= 10 ORDER BY a_night DESC LIMIT 1),
up AS (
  SELECT parent, name AS path, a_night FROM grown JOIN places USING (place)
  UNION ALL
  SELECT p.parent, p.name || ' / ' || path, a_night FROM up JOIN places p ON p.place = up.parent)
SELECT path, a_night::BIGINT AS bytes_a_night FROM up WHERE parent = 0;
