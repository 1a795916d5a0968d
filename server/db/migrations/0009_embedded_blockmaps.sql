-- Size in bytes of the block map at the end of an AppImage, if its builder embedded one.
alter table releases add column embedded_blockmap_size integer;
