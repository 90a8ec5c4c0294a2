/** Placeholder until the repair of zlib-sync lands here. */
