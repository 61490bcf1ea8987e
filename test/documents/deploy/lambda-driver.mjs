/**
 * Emulates Lambda for `lambda-handler.test.ts`: invokes the handler with events from the standard input, and prints
 * what the caller receives, and when the invocation has ended.
 */
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import process from "node:process";

/** A response stream of Lambda. With `breaksAfterFirstEvent`, the connection breaks after the first event. */
class LambdaResponseStream extends Writable {
  prelude;
  body = "";

  constructor(breaksAfterFirstEvent) {
    super({
      write: (chunk, _encoding, done) => {
        this.body += chunk.toString();
        done(breaksAfterFirstEvent && this.body.includes("\n\n") ? new Error("EPIPE") : undefined);
      },
    });
  }
}

globalThis.awslambda = {
  streamifyResponse: (handler) => handler,
  HttpResponseStream: {
    from(stream, prelude) {
      stream.prelude = prelude;
      return stream;
    },
  },
};

const { handler } = await import(process.argv[2]);
for (const { event, breaksAfterFirstEvent = false } of JSON.parse(await text(process.stdin))) {
  const stream = new LambdaResponseStream(breaksAfterFirstEvent);
  await handler(event, stream, { getRemainingTimeInMillis: () => 30_000 });
  process.stdout.write(`${JSON.stringify({ ...stream.prelude, body: stream.body })}\n`);
}
// Lambda freezes the process between invocations, and does not end it.
process.exit();
