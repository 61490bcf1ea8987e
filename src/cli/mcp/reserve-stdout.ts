import { Writable } from "node:stream";

/**
 * stdout, for the protocol alone: whatever else is written there from now on, by agents and by what they use, goes to
 * stderr.
 */
export function reserveStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const stdout = new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => void write(chunk, done),
  });
  // Each answer that waits for room listens for it; many at once are no leak.
  return stdout.setMaxListeners(0);
}
