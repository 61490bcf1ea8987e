/** Long enough to be cut, even if many chunks are merged into a few events. */
export const COUNTED_CHUNKS: readonly string[] = Array.from(
  { length: 60 },
  (_, at) => `chunk ${at} ${"x".repeat(200)};`,
);
