-- The answers of each function. The variable :folder is a folder of the server; tests/engines/postgresql_test.py runs this with pg_regress.
\getenv folder BFSTORE_FOLDER
\set plain :folder '/plain.bf'
\set kept :folder '/kept.bf'
\set counts :folder '/counts.bf'
\set VERBOSITY terse
\set SHOW_CONTEXT never
CREATE EXTENSION bfstore;

-- A file that no table keeps.
SELECT bf_create(:'plain', 10000);
SELECT bf_add(:'plain', 'text'), bf_add(:'plain', 'text'), bf_add(:'plain', '\x00ff'::bytea), bf_add(:'plain', 7), bf_add(:'plain', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid);
SELECT bf_maybe(:'plain', 'text'), bf_maybe(:'plain', '\x00ff'::bytea), bf_maybe(:'plain', 7), bf_maybe(:'plain', 7::smallint), bf_maybe(:'plain', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid);
SELECT bf_maybe(:'plain', 'absent'), bf_maybe(:'plain', '\x00fe'::bytea), bf_maybe(:'plain', 8), bf_maybe(:'plain', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12'::uuid);
-- Integers are 8 bytes, little-endian; character(n) has no padding.
SELECT bf_maybe(:'plain', '\x0700000000000000'::bytea), bf_maybe(:'plain', 'text   '::char(7)), bf_maybe(:'plain', 'text   ');
SELECT health, layout, num_probes, capacity, fpr, keys_added, saturated, kept FROM bf_info(:'plain');
SELECT bf_sync(:'plain') IS NULL AS plain;

-- Only a certain no gives false.
SELECT bf_maybe(NULL, 'text'), bf_maybe(:'plain', NULL::text), bf_add(:'plain', NULL::text);
SET client_min_messages = error;
SELECT bf_maybe(:'folder' || '/missing.bf', 'text'), bf_maybe(:'folder', 'text');
SELECT health LIKE '%missing.bf%' AS health, layout, kept FROM bf_info(:'folder' || '/missing.bf');
RESET client_min_messages;
SELECT bf_maybe('relative.bf', 'text');

-- A call with constants is a One-Time Filter, and an index is asked after it.
CREATE TABLE people (id bigint, name text, born int);
INSERT INTO people SELECT i, 'name ' || i, i FROM generate_series(1, 1000) AS i;
EXPLAIN (COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF) SELECT * FROM people WHERE id = 1 AND bf_maybe('/nowhere/absent.bf', NULL::text) AND bf_maybe(current_setting('data_directory') || '/no.bf', NULL::text);

-- A table keeps its filter. Its size leaves no key to chance: the seed is random.
SELECT bf_attach('people', 'name', :'kept', 1000000, 0.0001);
SELECT count(*) FROM people WHERE NOT bf_maybe(:'kept', name);
SELECT count(*) < 50 AS few FROM generate_series(1, 1000) AS i WHERE bf_maybe(:'kept', 'absent ' || i);
INSERT INTO people VALUES (1001, 'new', 0), (1002, NULL, 0);
UPDATE people SET name = 'changed' WHERE id = 5;
SELECT bf_maybe(:'kept', 'new'), bf_maybe(:'kept', 'changed'), bf_maybe(:'kept', 'other');
SELECT health, capacity, keys_added, kept FROM bf_info(:'kept');
BEGIN;
INSERT INTO people VALUES (1003, 'rolled back', 0);
ROLLBACK;
SELECT bf_maybe(:'kept', 'rolled back');
SELECT bf_sync(:'kept') <= pg_current_wal_insert_lsn() AS synced;
SELECT count(*) FROM bfstore.opened;
COPY people FROM stdin;
1004	copied	0
\.
SELECT bf_maybe(:'kept', 'copied');
-- The order of triggers: another trigger that sorts after it changes the key.
CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name := upper(NEW.name); RETURN NEW; END $$;
CREATE TRIGGER "~~" BEFORE INSERT ON people FOR EACH ROW EXECUTE FUNCTION shout();
INSERT INTO people VALUES (1005, 'loud', 0);
SELECT bf_maybe(:'kept', 'LOUD');
DROP TRIGGER "~~" ON people;
-- A trigger that asks for another row of its statement.
CREATE FUNCTION ask() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM people WHERE NOT bf_maybe(current_setting('test.kept'), name)) THEN RAISE EXCEPTION 'a wrong no'; END IF;
  RETURN NEW;
END $$;
SELECT set_config('test.kept', :'kept', false) AS ignored \gset
CREATE TRIGGER aaa AFTER INSERT ON people FOR EACH ROW EXECUTE FUNCTION ask();
INSERT INTO people VALUES (1006, 'first', 0), (1007, 'second', 0);
DROP TRIGGER aaa ON people;
SET session_replication_role = replica;
INSERT INTO people VALUES (1008, 'from a replica', 0);
RESET session_replication_role;
SELECT bf_maybe(:'kept', 'from a replica');

-- A snapshot from before a build sees rows that the new file never had.
BEGIN;
DECLARE old CURSOR FOR SELECT count(*) FILTER (WHERE NOT bf_maybe(:'kept', name)) AS wrong_no FROM people;
DELETE FROM people WHERE id < 500;
SELECT bfstore.build(:'kept', 'SELECT name FROM people', 10000, 0.01, 'blocked', 'people', 2::smallint) > 0 AS built;
SET LOCAL client_min_messages = error;
FETCH old;
COMMIT;
BEGIN;
DECLARE old CURSOR FOR SELECT count(*) FILTER (WHERE NOT bf_maybe(:'kept', name)) AS wrong_no FROM people;
\! psql -qAtX -d regress -c "DELETE FROM people WHERE id < 600" -c "SELECT bf_attach('people', 'name', '$BFSTORE_FOLDER/kept.bf', 1000000, 0.0001) > 0" -c "SELECT bf_maybe('$BFSTORE_FOLDER/kept.bf', 'name 550')"
SELECT bf_maybe(:'kept', 'name 550');
FETCH old;
COMMIT;
SELECT bf_maybe(:'kept', 'name 550');

-- A build that is rolled back changes nothing: the old file answers, and takes rows.
BEGIN;
SELECT bf_attach('people', 'name', :'kept', 1000000, 0.0001) > 0 AS built;
SET client_min_messages = error;
SELECT bf_maybe(:'kept', 'other');
RESET client_min_messages;
INSERT INTO people VALUES (1009, 'rolled back with it', 0);
ROLLBACK;
SELECT bf_maybe(:'kept', 'other');
INSERT INTO people VALUES (1009, 'after the rollback', 0);
SELECT bf_maybe(:'kept', 'other'), bf_maybe(:'kept', 'after the rollback');
-- An opening that is rolled back is registered again.
\c
BEGIN;
SAVEPOINT a;
INSERT INTO people VALUES (1010, 'in a savepoint', 0);
ROLLBACK TO a;
INSERT INTO people VALUES (1011, 'after it', 0);
COMMIT;
SELECT count(*) FROM bfstore.opened;

-- Tables and columns that bf_attach refuses.
CREATE TABLE parts (id int) PARTITION BY RANGE (id);
SELECT bf_attach('parts', 'id', '/nowhere/x.bf');
SELECT bf_attach('people', 'nothing', '/nowhere/x.bf');
SELECT bf_attach('people', 'name', '/nowhere//x.bf');
SELECT bf_attach('people', 'name', '/nowhere/x.bf');
\set VERBOSITY sqlstate
SELECT bf_attach('people', 'born', :'kept');
SELECT bf_build(:'kept', 'SELECT 1');
\set VERBOSITY terse
CREATE TABLE odd (price numeric, half int2);
SELECT bf_attach('odd', 'price', '/nowhere/x.bf');
SELECT bf_attach('odd', 'half', '/nowhere/x.bf', policy => 'hope');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT bf_attach('odd', 'half', '/nowhere/x.bf');
ROLLBACK;
SELECT bf_build(:'folder' || '/x.bf', 'SELECT 1.5');
SELECT bf_build(:'folder' || '/x.bf', 'DROP TABLE people');

-- A file of a query, which no trigger keeps. A plain file that replaces it is not trusted, nor is one without its table.
SELECT bf_build(:'folder' || '/built.bf', 'SELECT id FROM people', capacity => 100000, fpr => 1e-6);
SELECT count(*) FROM people WHERE NOT bf_maybe(:'folder' || '/built.bf', id);
SELECT bf_maybe(:'folder' || '/built.bf', -1), bf_maybe(:'folder' || '/built.bf', 1);
SELECT bf_create(:'folder' || '/built.bf', 100, replace => true);
SET client_min_messages = error;
SELECT bf_maybe(:'folder' || '/built.bf', 1000), bf_maybe(:'folder' || '/built.bf', -1);
RESET client_min_messages;
SELECT bf_attach('people', 'id', :'folder' || '/id.bf', 1000000, 0.0001) > 0 AS built;
SET force_parallel_mode = on;
SELECT count(*) FILTER (WHERE NOT bf_maybe(:'folder' || '/id.bf', id)), bool_or(bf_maybe(:'folder' || '/id.bf', -id)) FROM people;
RESET force_parallel_mode;
PREPARE asked AS SELECT count(*) FROM people WHERE id = 4000 AND bf_maybe(:'folder' || '/id.bf', 4000);
EXECUTE asked;
INSERT INTO people VALUES (4000, 'later', 0);
EXECUTE asked;
SELECT count(*) FROM bfstore.kept;
SELECT bf_detach('people', 'id');
SET client_min_messages = error;
SELECT bf_maybe(:'folder' || '/id.bf', -1);
RESET client_min_messages;
SELECT bf_detach('people', 'id');
SELECT count(*) FROM bfstore.kept;

-- A plain file does not replace the filter of a table.
\set VERBOSITY sqlstate
SELECT bf_create(:'kept', 100, replace => true);
SELECT bfstore.build(:'kept', 'SELECT 1', 100, 0.01, 'blocked');
\set VERBOSITY terse
SELECT regexp_replace(answers_for, '"', '', 'g') AS answers_for, left(unseen, 60) AS unseen FROM bf_info(:'kept');

-- Counting: a key is removed when no snapshot can see its row.
SELECT bf_create(:'counts', 1000, layout => 'counting');
SELECT bf_add(:'counts', 'a'), bf_add(:'counts', 'a');
SELECT bf_count(:'counts', 'a'), bf_count(:'counts', 'b');
SELECT bf_remove(:'counts', 'a', pg_current_xact_id());
SELECT pg_current_xact_id() AS deleted_by \gset
SELECT bf_remove(:'counts', 'a', :'deleted_by');
SELECT bf_count(:'counts', 'a');

-- Rights.
CREATE ROLE stranger;
GRANT SELECT, INSERT ON people TO stranger;
SET ROLE stranger;
SELECT bf_maybe(:'kept', 'new');
SELECT bf_add(:'plain', 'x');
SELECT bf_attach('people', 'name', :'kept');
SELECT * FROM bfstore.opened;
INSERT INTO people VALUES (1012, 'by a stranger', 0);
RESET ROLE;
SELECT bf_maybe(:'kept', 'by a stranger');
DROP OWNED BY stranger;
DROP ROLE stranger;

-- A small table gets a filter for 10,000 keys.
CREATE TABLE few (key bigint);
SELECT bf_attach('few', 'key', :'folder' || '/few.bf');
SELECT capacity, fpr FROM bf_info(:'folder' || '/few.bf');
