// Package blob keeps contents by their digest, in append-only packs: files as they were captured, trees, artifacts.
//
// # The model
//
// A content is bytes, named by its digest ([store.Sum] of all of them, however it is stored). A [Batch] adds contents:
// what it puts is in memory and behind the last batch of a pack until Commit, and there for everybody after it. Nothing is
// ever changed in place. [Store.Sweep] alone takes contents away: those that no root leads to.
//
//	batch ─ Put, PutFrom, Has ─▶ Commit ─▶ the caller appends the event that names the digests ─▶ Close
//
// The directory:
//
//	blobs/packs/0123456789abcdef.pack   records and frames, described below; appended to by one batch at a time
//	blobs/packs/0123456789abcdef.idx    where the records of a pack are; a cache, made again from the pack
//	blobs/lock, gate, sweep             locks (flock); their files stay empty
//
// All numbers are little-endian, all checksums CRC-32C. A pack begins with 16 bytes: "PRDPACK1" and the eight bytes of its
// name. Then come batches, each of records and one frame. A record:
//
//	 0  1  kind: 1 raw, 2 zstd (one frame), 3 list, 4 delta
//	 1  3  zero
//	 4  4  length of the payload, at most 8 MiB; below the next one for zstd and delta
//	 8  8  length of the content
//	16 32  digest of the content
//	48  4  checksum of the 48 bytes before it and the payload
//	52     payload
//
// A content over [ChunkMin] is a list: its payload is eight bytes, of which the first is 0 or 1 and the others are zero,
// and then for each part a digest (32) and how many bytes of the content it stands for (8). With 0 a part is a chunk, a
// content of its own. With 1 a part is a page, a content that holds such parts, of chunks. No part is a list; the lengths
// add up to the content's.
//
// A delta is a content that is much like another one, its base: that stands for itself, so no content needs more than one
// other. Its payload is the base's digest (32), 0 or 1, and instructions, which with 1 are in a zstd frame with their
// length (a varint) before it. Each is a varint: twice the length of what it adds to the content, and 1 more if so many new
// bytes follow. Otherwise they are copied from the base, from where the copy before ended plus the signed varint that
// follows.
//
// A frame ends a batch. It stands behind the last record, and the batch counts when it is whole:
//
//	 0  8  "PRDEND1\n"
//	 8  8  name of the pack
//	16  8  where the batch begins: the end of the frame before it, or of the pack's header
//	24  8  where this frame begins
//	32  4  number n of the records
//	36  4  zero
//	40 48n for each record: digest (32), offset (8), length of the payload (3), kind (1), checksum (4)
//	    4  checksum of all that
//	    4  length of the whole frame
//
// An index file:
//
//	 0  8  "PRDIDX1\n"
//	 8  8  name of the pack
//	16  8  the bytes of the pack that it speaks of, whole batches
//	24  8  number of its entries
//	32  8  blocks of the filter, of 64 bytes
//	40  4  checksum of the entries
//	44  8  zero
//	52  4  checksum of the header before it, the table and the filter
//	56     table: for each first byte of a digest how many entries have it or a smaller one (4 each)
//	       filter: a digest's bytes 8 to 15 choose its block, 16 to 31 eight bits in it
//	       entries by digest, each as in a frame
//
// # What holds after a crash
//
// Commit writes the frame and syncs the pack once; a new pack's name is durable before anything is in it. What follows the
// last whole frame of a pack is the rest of a batch that was never committed, or of one that is being written: readers
// ignore it, and the next batch cuts it off, if the pack's lock (flock, held by the batch that appends) is free. A frame
// whose records are not all whole does not count either, so power may fail at any moment. Nobody appends to a pack before
// everything in it is durable; a batch that finds a content in a batch of another process which may not be durable yet
// syncs it in its own Commit. So a content that a returned Commit covers stays, and damage that is found in the middle of a
// pack is damage of the medium: the other records stay readable. Damage in the very last batch of a pack without an index
// cannot be told from a torn one, and counts as such.
//
// A batch that needs several packs commits them in the order in which they were written. Chunks are written before the list
// that names them, and so are contents which a caller puts first: no crash leaves what names a content
// without it. Sweep can, where nothing leads to it. What is in the store and leads to a delta keeps its base, too, but not
// what that leads to.
//
// # The caller's duties
//
// Close every batch, soon: an open one keeps Sweep waiting. Put children before what names them, and put or ask for
// each of them: a tree that nothing leads to may still be there while its parts are not. Append the event that names a
// digest after Commit and before Close; between these two neither what was put nor what Has or Put found there can be
// swept. Roots given to Sweep have to lead to everything that is named anywhere. Do not call Sweep with a batch open in
// the same goroutine: it waits for it.
//
// The directory is on a local file system, as its locks are; its parent has to be there.
package blob
