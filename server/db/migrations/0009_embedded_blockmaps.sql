-- Bytes of the block map at the end of an AppImage itself, where its builder put one.
alter table releases add column embedded_blockmap_size integer;
