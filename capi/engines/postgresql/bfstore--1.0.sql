-- The functions, the trigger and the registry of the PostgreSQL extension bfstore.
\echo Use "CREATE EXTENSION bfstore" to load this file. \quit

CREATE SCHEMA bfstore;
COMMENT ON SCHEMA bfstore IS 'what the extension bfstore knows of the filters that this database keeps';

-- One row of each path has a file_id; each opening by a process that adds has another row. registry.c writes the table.
-- `keeper` is the database that wrote the row: another database that gets it (a subscription, a template) ignores it.
CREATE TABLE bfstore.opened (
  path text NOT NULL,
  mark pg_lsn NOT NULL,
  file_id bytea,
  keeper text NOT NULL,
  timeline bigint,
  built_by xid8,
  key_type regtype,
  definition text
);
-- A publication FOR ALL TABLES includes this table, and rows without an identity could not be deleted then.
ALTER TABLE bfstore.opened REPLICA IDENTITY FULL;
CREATE INDEX ON bfstore.opened (path, mark);
REVOKE ALL ON bfstore.opened FROM PUBLIC;

-- STABLE: other processes write to the file, so a plan must not keep the answer (IMMUTABLE), but within a statement
-- every key that its snapshot sees stays "maybe". A call with constants is a One-Time Filter, as it is not VOLATILE.
-- Not STRICT: for a NULL argument the answer is "maybe", not NULL, which WHERE would treat as false.
-- "any": the function has to know the type of the asked key, and a cast to one of its own types would hide it.
CREATE FUNCTION bf_maybe(path text, key "any") RETURNS bool AS 'MODULE_PATHNAME'
  LANGUAGE C STABLE PARALLEL SAFE COST 5;
CREATE FUNCTION bf_count(path text, key "any") RETURNS int AS 'MODULE_PATHNAME'
  LANGUAGE C STABLE PARALLEL SAFE COST 5;

CREATE FUNCTION bf_info(path text, OUT health text, OUT layout text, OUT num_bits bigint, OUT num_probes int,
    OUT capacity bigint, OUT fpr float8, OUT keys_added bigint, OUT saturated bool, OUT kept bool, OUT answers_for text,
    OUT unseen text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;

CREATE FUNCTION bf_create(path text, capacity bigint, fpr float8 DEFAULT 0.01, layout text DEFAULT 'blocked',
    replace bool DEFAULT false) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
CREATE FUNCTION bf_add(path text, key text) RETURNS bool AS 'MODULE_PATHNAME', 'bf_add_text'
  LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION bf_add(path text, key bytea) RETURNS bool AS 'MODULE_PATHNAME', 'bf_add_bytea'
  LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION bf_add(path text, key bigint) RETURNS bool AS 'MODULE_PATHNAME', 'bf_add_bigint'
  LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION bf_add(path text, key uuid) RETURNS bool AS 'MODULE_PATHNAME', 'bf_add_uuid'
  LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION bf_remove(path text, key text, deleted_by xid8) RETURNS bool AS 'MODULE_PATHNAME', 'bf_remove_text'
  LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION bf_remove(path text, key bytea, deleted_by xid8) RETURNS bool AS 'MODULE_PATHNAME', 'bf_remove_bytea'
  LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION bf_remove(path text, key bigint, deleted_by xid8) RETURNS bool AS 'MODULE_PATHNAME', 'bf_remove_bigint'
  LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION bf_remove(path text, key uuid, deleted_by xid8) RETURNS bool AS 'MODULE_PATHNAME', 'bf_remove_uuid'
  LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION bf_sync(path text) RETURNS pg_lsn AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
CREATE FUNCTION bfstore.build(path text, query text, capacity bigint, fpr float8, layout text, tab regclass DEFAULT NULL,
    attnum smallint DEFAULT NULL) RETURNS bigint
  AS 'MODULE_PATHNAME', 'bf_build' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION bfstore.drop(path text) RETURNS void
  AS 'MODULE_PATHNAME', 'bf_drop' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
GRANT USAGE ON SCHEMA bfstore TO pg_write_server_files;
CREATE FUNCTION bf_keep() RETURNS trigger AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;

-- The columns that have a trigger, and the paths of their filters. `fits` is false if the column has another name or
-- number than in the trigger, which then refuses every row: after RENAME, or in a restored dump of a table that had a
-- dropped column.
CREATE VIEW bfstore.kept AS
  SELECT tgrelid::regclass AS tab, number.attnum, name.col,
      convert_from(substring(tgargs FOR ends.path - 1), getdatabaseencoding()) AS path,
      EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = tgrelid AND a.attnum = number.attnum
                AND a.attname = name.col AND NOT a.attisdropped) AS fits
    FROM pg_catalog.pg_trigger,
      LATERAL (SELECT substring(tgname FROM '\d+$')::smallint AS attnum) AS number,
      LATERAL (SELECT position('\x00'::bytea IN tgargs) AS path) AS ends,
      LATERAL (SELECT substring(tgargs FROM ends.path + 1) AS bytes) AS rest,
      LATERAL (SELECT convert_from(substring(rest.bytes FOR position('\x00'::bytea IN rest.bytes) - 1),
                                   getdatabaseencoding())::name AS col) AS name
    WHERE tgfoid = '@extschema@.bf_keep'::regproc AND tgname ~ '^~bfstore after \d+$';
GRANT SELECT ON bfstore.kept TO pg_write_server_files;

-- Only one transaction at a time decides what a path is for.
CREATE FUNCTION bfstore.claim(path text) RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
  IF path !~ '^/' OR path ~ '//|/\.\.?(/|$)|/$' THEN
    RAISE EXCEPTION 'bfstore: "%" is not an absolute path without // and /./', path;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(path, 1650881396));
END
$body$;

-- Builds a file of the rows that the query returns now. Later rows are not in it: see bf_attach.
CREATE FUNCTION bf_build(path text, query text, capacity bigint DEFAULT NULL, fpr float8 DEFAULT 0.01,
    layout text DEFAULT 'blocked') RETURNS bigint
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $body$
BEGIN
  PERFORM bfstore.claim(path);
  IF EXISTS (SELECT FROM bfstore.kept k WHERE k.path = bf_build.path) THEN
    RAISE EXCEPTION 'bfstore: % is the filter of a table: call bf_attach', path;
  END IF;
  RETURN bfstore.build(path, query, capacity, fpr, layout);
END
$body$;

-- Refuses a column whose equal keys may have different bytes, or whose rows may bypass the trigger.
CREATE FUNCTION bfstore.key_type(tab regclass, col name, OUT attnum smallint, OUT base oid)
  LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  facts record;
BEGIN
  SELECT c.relkind, c.relhassubclass, a.attnum, a.atttypid, t.typtype,
         CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END AS base,
         coalesce(l.collisdeterministic, true) AS deterministic
    INTO facts
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
      LEFT JOIN pg_collation l ON l.oid = a.attcollation
    WHERE c.oid = tab AND a.attname = col AND NOT a.attisdropped AND a.attnum > 0;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'bfstore: % has no column %', tab, col;
  ELSIF facts.relkind <> 'r' OR facts.relhassubclass THEN
    RAISE EXCEPTION 'bfstore: % is not a table without partitions and children', tab
      USING HINT = 'Attach each partition to a file of its own.';
  ELSIF NOT facts.deterministic THEN
    RAISE EXCEPTION 'bfstore: equal keys of a nondeterministic collation have different bytes';
  ELSIF facts.base NOT IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype, 'bytea'::regtype,
      'int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'uuid'::regtype) THEN
    RAISE EXCEPTION 'bfstore: no key has the type %', facts.atttypid::regtype;
  END IF;
  attnum := facts.attnum;
  base := facts.base;
END
$body$;

CREATE FUNCTION bfstore.drop_triggers(tab regclass, attnum smallint) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
  EXECUTE format('DROP TRIGGER IF EXISTS %I ON %s', format('~bfstore before %s', attnum), tab);
  EXECUTE format('DROP TRIGGER IF EXISTS %I ON %s', format('~bfstore after %s', attnum), tab);
END
$body$;

-- Builds the filter of a column, and keeps it in step from now on. Call it again to build the filter again. The lock
-- waits for the transactions that have written to the table, and holds off others until this one ends, so each row is
-- in the build or meets the triggers. Two triggers: the one before a row counts for a trigger of the user that asks for
-- rows of its own statement; the one after it sees what other triggers and generated columns made of the row. ALWAYS:
-- they also fire for the rows of a replica.
CREATE FUNCTION bf_attach(tab regclass, col name, path text, capacity bigint DEFAULT NULL, fpr float8 DEFAULT 0.01,
    policy text DEFAULT 'error') RETURNS bigint
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET row_security = off SET search_path = pg_catalog, @extschema@, pg_temp
AS $body$
DECLARE
  key record;
  moment text;
BEGIN
  IF policy NOT IN ('error', 'drop') THEN
    RAISE EXCEPTION 'bfstore: the policy is error or drop, not %', policy;
  ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'bfstore: filters are built in READ COMMITTED transactions';
  END IF;
  PERFORM bfstore.claim(path);
  EXECUTE format('LOCK TABLE ONLY %s IN SHARE ROW EXCLUSIVE MODE', tab);
  SELECT * INTO key FROM bfstore.key_type(tab, col);
  PERFORM bfstore.drop_triggers(k.tab, k.attnum) FROM bfstore.kept k
    WHERE k.tab = bf_attach.tab AND NOT k.fits AND (k.path = bf_attach.path OR k.attnum = key.attnum);
  IF EXISTS (SELECT FROM bfstore.kept k
             WHERE (k.path = bf_attach.path) <> (k.tab = bf_attach.tab AND k.attnum = key.attnum)) THEN
    RAISE EXCEPTION 'bfstore: % has another column''s filter, or column % has another filter', path, col
      USING HINT = 'Call bf_detach first.';
  END IF;
  -- A subtransaction of its own, whose number no other command gives to the rows of the triggers and of the column: see
  -- definition.c. SET STATISTICS with the current value writes the column's row, and changes nothing.
  BEGIN
    EXECUTE format('ALTER TABLE ONLY %s ALTER COLUMN %I SET STATISTICS %s', tab, col,
                   (SELECT a.attstattarget FROM pg_attribute a WHERE a.attrelid = tab AND a.attnum = key.attnum));
    FOREACH moment IN ARRAY ARRAY['before', 'after'] LOOP
      EXECUTE format('CREATE OR REPLACE TRIGGER %I %s INSERT OR UPDATE ON %s FOR EACH ROW'
                     ' EXECUTE FUNCTION bf_keep(%L, %L, %L, %L, %L)',
                     format('~bfstore %s %s', moment, key.attnum), moment, tab, path, col, key.base, policy, key.attnum);
      EXECUTE format('ALTER TABLE ONLY %s ENABLE ALWAYS TRIGGER %I', tab,
                     format('~bfstore %s %s', moment, key.attnum));
    END LOOP;
  EXCEPTION WHEN OTHERS THEN
    RAISE;
  END;
  IF capacity IS NULL THEN
    EXECUTE format('SELECT greatest(10000, 2 * count(*)) FROM ONLY %s', tab) INTO capacity;
  END IF;
  RETURN bfstore.build(path, format('SELECT %I FROM ONLY %s', col, tab), capacity, fpr, 'blocked', tab, key.attnum);
END
$body$;

-- From the commit on every answer is "maybe", before the lock lets another transaction add a row. The file may then be
-- removed.
CREATE FUNCTION bf_detach(tab regclass, col name) RETURNS void
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, @extschema@, pg_temp
AS $body$
DECLARE
  found_one record;
BEGIN
  EXECUTE format('LOCK TABLE ONLY %s IN SHARE ROW EXCLUSIVE MODE', tab);
  SELECT k.* INTO found_one FROM bfstore.kept k LEFT JOIN pg_attribute a ON a.attrelid = k.tab AND a.attnum = k.attnum
    WHERE k.tab = bf_detach.tab AND bf_detach.col IN (k.col, a.attname) ORDER BY k.col = bf_detach.col DESC LIMIT 1;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'bfstore: no filter is attached to column % of %', col, tab;
  END IF;
  PERFORM bfstore.drop(found_one.path);
  PERFORM bfstore.drop_triggers(tab, found_one.attnum);
END
$body$;

-- Lookups check the role themselves, as COPY does; all other functions must also be granted.
DO $$
DECLARE
  f regprocedure;
BEGIN
  FOR f IN SELECT p.oid FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
      JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
    WHERE e.extname = 'bfstore' AND d.deptype = 'e' AND p.proname NOT IN ('bf_maybe', 'bf_count', 'bf_info')
  LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO pg_write_server_files', f);
  END LOOP;
END $$;
