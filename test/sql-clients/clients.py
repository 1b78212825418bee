"""Reads the index with one client of Python, by the URL that `kasgres analysts create` printed, and prints the result."""

import sys


def psycopg3(url):
    import psycopg

    with psycopg.connect(url) as connection:
        return connection.execute("select 6 * 7, current_schema()").fetchone()


def asyncpg_pool(url):
    import asyncio
    import asyncpg

    async def run():
        # Each release resets the connection with pg_advisory_unlock_all().
        async with asyncpg.create_pool(url, min_size=1, max_size=2) as pool:
            for _ in range(3):
                async with pool.acquire() as connection:
                    row = await connection.fetchrow("select 6 * 7, current_schema()")
            return tuple(row)

    return asyncio.run(run())


def sqlalchemy_pandas(url):
    import pandas
    import sqlalchemy

    engine = sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    frame = pandas.read_sql(sqlalchemy.text("select 6 * 7 as result, current_schema() as path"), engine)
    return tuple(frame.iloc[0].tolist())


def duckdb_postgres(url):
    import duckdb

    connection = duckdb.connect()
    connection.execute("install postgres; load postgres")
    connection.execute(f"attach '{url}' as kasgres (type postgres, read_only, schema 'kaspa')")
    connection.execute("select count(*) from kasgres.kaspa.blocks").fetchone()
    return connection.execute("select * from postgres_query('kasgres', 'select 6 * 7, current_schema()')").fetchone()


print(*globals()[sys.argv[1]](sys.argv[2]))
