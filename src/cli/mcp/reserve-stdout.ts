import { Writable } from "node:stream";

/**
 * Returns a stream that writes protocol messages to stdout. If agents or their dependencies write to
 * `process.stdout`, the output goes to stderr.
 */
export function reserveStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const stdout = new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => void write(chunk, done),
  });
  // Each pending response adds a listener, so many listeners are not a leak.
  return stdout.setMaxListeners(0);
}
