"""The column families of a crawl's state, and how RocksDB keeps them: bounds of memory, shapes of files."""

from enum import StrEnum
from typing import Annotated

import msgspec
import rocksdict
from msgspec import Meta

from gossamer.model.quantity import Bytes


class Family(StrEnum):
    """The column families (decision 0002)."""

    QUEUE = "queue"
    LATER = "later"
    AGAIN = "again"
    SEEN = "seen"
    PAGES = "pages"
    HOSTS = "hosts"
    ROBOTS = "robots"
    WAKE = "wake"
    DIGESTS = "digests"
    CAPTURES = "captures"
    OUTBOX = "outbox"
    STANDINGS = "standings"
    PATTERNS = "patterns"  # of older versions; nothing reads it
    BRANCHES = "branches"
    DOMAINS = "domains"
    META = "meta"


class StateConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bounds of RocksDB's memory; the size of the crawl does not enter."""

    block_cache: Annotated[
        Bytes,
        Meta(
            description="cache of blocks, indexes and filters; more makes seen tests of large crawls faster"
        ),
    ] = 8 << 20
    seen_filter: Annotated[
        Bytes,
        Meta(
            description="memory for a filter in front of the seen set, which tells most new URLs without the "
            "disk; 0: none. 8 to 10 bits for each URL make a crawl of very many URLs faster"
        ),
    ] = 0
    write_buffers: Annotated[
        Bytes, Meta(description="memory for writes of all families together; more means fewer, larger files")
    ] = 16 << 20
    max_open_files: Annotated[
        int, Meta(ge=32, description="table files kept open; each costs some KiB of memory")
    ] = 256
    max_log: Annotated[
        Bytes, Meta(description="write-ahead log kept before it is flushed; bounds restart time")
    ] = 64 << 20


_READ_IN_ROWS = frozenset({Family.QUEUE, Family.LATER})
"""Families whose entries are read some dozens in a row, hardly ever alone."""
_CAPTURES_BLOCK = 16 << 10
"""Bytes of a block of captures, some forty lines that repeat each other: one takes 31 on disk of its 367, where lz4 in
blocks of 4 KiB takes 69. Each visit leaves one for ever; finding a page's first takes 40 us instead of 11, reading all
of them as long as before."""

_ZSTD = (-14, 1, 0, 0)
"""Window (the default), level, strategy, no dictionary: level 3 gains 1% for a fifth more time."""

_PARTITION = 16 << 10
"""Bytes of a filter's partition. A part of the index goes with each: with the usual 4 KiB one of 400 bytes,
found among ten thousands (docs/decisions/0012-seen-test-and-scale.md)."""

_PARTS, _BESIDE_LARGEST = 8, 100
"""A family that is merged by size has at most so many parts, which a scan must look into; and beside the
largest so many percent of it, before all becomes one and what was settled leaves the disk."""


def rocksdb_options(
    config: StateConfig, *, create: bool
) -> tuple[rocksdict.Options, dict[str, rocksdict.Options]]:
    """Options of the database and of each family; all share one cache and one bound on write buffers."""
    # By clock, for entries of any size (0): the usual one takes a lock for each block that is looked up, and
    # keeps half of its room only for filters and indexes (docs/decisions/0012-seen-test-and-scale.md).
    cache = rocksdict.Cache.new_hyper_clock_cache(config.block_cache, 0)
    buffers = rocksdict.WriteBufferManager(config.write_buffers, False)

    def options(family: Family | None = None) -> rocksdict.Options:
        made, table = _shared_options(config), _table_options(cache)
        made.create_if_missing(create)
        made.set_write_buffer_manager(buffers)
        if family is Family.SEEN:
            # Most of what is looked up is in no memtable, and a skip list says so only after twenty steps.
            made.set_memtable_whole_key_filtering(True)
            made.set_memtable_prefix_bloom_ratio(0.05)
            # With a filter in memory nearly all that is looked up is there, and most of it in the last level.
            made.set_optimize_filters_for_hits(config.seen_filter > 0)
        if family in _READ_IN_ROWS:
            _arrange_rows(made, table)
        elif family is Family.CAPTURES:
            table.set_block_size(_CAPTURES_BLOCK)
            _squeeze(made)
        made.set_block_based_table_factory(table)
        return made

    return options(), {family.value: options(family) for family in Family}


def _shared_options(config: StateConfig) -> rocksdict.Options:
    made = rocksdict.Options(raw_mode=True)
    made.create_missing_column_families(True)
    made.set_write_buffer_size(max(1 << 20, config.write_buffers // 4))
    # The default arena block is an eighth of the write buffer, taken by every family.
    made.set_arena_block_size(128 << 10)
    made.set_max_open_files(config.max_open_files)
    # Else each family has 16 threads to open its files with, at each opening: hundreds for a few files.
    made.set_max_file_opening_threads(1)
    # In one piece: the usual 64 have room for four files of 256 each, by the files' numbers, and of a hundred
    # files some would be opened anew for every look-up, which reads some hundred KiB.
    made.set_table_cache_num_shard_bits(0)
    made.set_max_total_wal_size(config.max_log)
    made.set_keep_log_file_num(2)
    made.set_max_log_file_size(4 << 20)
    made.set_level_compaction_dynamic_level_bytes(True)
    made.set_max_background_jobs(2)
    made.set_compression_type(rocksdict.DBCompressionType.lz4())
    return made


def _table_options(cache: rocksdict.Cache) -> rocksdict.BlockBasedOptions:
    table = rocksdict.BlockBasedOptions()
    table.set_block_cache(cache)
    table.set_cache_index_and_filter_blocks(True)
    table.set_pin_l0_filter_and_index_blocks_in_cache(True)
    # A filter that is wrong costs a read, and room in the cache for a block of no use: 12 bits a key leave
    # 0.3% where the usual 10 leave 1%.
    table.set_bloom_filter(12, False)
    # In partitions, or a seen test of a large crawl would have to load whole filters, of megabytes each.
    table.set_index_type(rocksdict.BlockBasedIndexType.two_level_index_search())
    table.set_partition_filters(True)
    table.set_metadata_block_size(_PARTITION)
    table.set_pin_top_level_index_and_filter(True)
    return table


def _squeeze(made: rocksdict.Options) -> None:
    made.set_compression_type(rocksdict.DBCompressionType.zstd())
    made.set_compression_options(*_ZSTD)


def _arrange_rows(made: rocksdict.Options, table: rocksdict.BlockBasedOptions) -> None:
    """For entries that come in random order and are read some dozens in a row."""
    # 48 bytes on disk for a queued URL of 66 and its finder's, where lz4 in blocks of 4 KiB takes 73.
    table.set_block_size(8 << 10)
    _squeeze(made)
    # Who looks up a single entry knows that it is there, and nearly all are in the last level.
    made.set_optimize_filters_for_hits(True)
    # Hosts are hashed, so what arrives falls everywhere: merged by levels each entry of ten million would be
    # written a dozen times, by size four times.
    made.set_compaction_style(rocksdict.DBCompactionStyle.universal())
    merging = rocksdict.UniversalCompactOptions()
    merging.max_size_amplification_percent = _BESIDE_LARGEST
    made.set_universal_compaction_options(merging)
    made.set_level_zero_file_num_compaction_trigger(_PARTS)
