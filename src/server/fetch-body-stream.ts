import type { StreamInterruption } from "../engine/index.ts";
import type { A2AError } from "../protocol/index.ts";
import type { ByteAccount } from "./byte-ledger/byte-ledger.ts";
import type { WriteStallWatch } from "./byte-ledger/write-stall-watch.ts";
import type { ResponseSink } from "./http-exchange.ts";
import { writeTextInSlices } from "./write-text-in-slices.ts";

/**
 * Creates the body of a `Response` from a function that writes to a sink. Bytes that the host does not read count in the
 * account. If the host reads nothing for too long, the body fails and the account is closed.
 */
export function createFetchBodyStream(
  write: (sink: ResponseSink) => void,
  account: ByteAccount | undefined,
  stallWatch: WriteStallWatch | undefined,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const callbacks: ((interruption?: StreamInterruption) => void)[] = [];
  let resumeWrites: (() => void) | undefined;
  let closed = false;
  const close = (interruption?: StreamInterruption): void => {
    closed = true;
    resumeWrites?.();
    account?.close();
    for (const callback of callbacks.splice(0)) callback(interruption);
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const fail = (interruption: StreamInterruption): void => {
        controller.error(new Error("The response was not read in time; send the request again."));
        close(interruption);
      };
      write({
        reserve(bytes): A2AError | undefined {
          const isRefused = account?.tryReservePendingBytes(bytes) === false;
          return isRefused ? account?.createRefusal("responses") : undefined;
        },
        write(text) {
          if (closed) return undefined;
          const bytes = encoder.encode(text);
          controller.enqueue(bytes);
          if ((controller.desiredSize ?? 0) > 0) {
            account?.tryReservePendingBytes(0);
            return undefined;
          }
          if (account?.tryReservePendingBytes(bytes.length) === false) {
            fail({ reason: "cut", error: "RESOURCE_EXHAUSTED" });
            return undefined;
          }
          const stopWatch = stallWatch?.watch(account?.holder ?? { remoteAddress: undefined }, () =>
            fail({ reason: "stalled" }),
          );
          return new Promise((resolve) => {
            resumeWrites = (): void => {
              resumeWrites = undefined;
              stopWatch?.();
              account?.tryReservePendingBytes(0);
              resolve();
            };
          });
        },
        end(lastText = "") {
          const taken = lastText === "" ? undefined : this.write(lastText);
          if (taken) void taken.then(() => this.end());
          else if (!closed) {
            controller.close();
            close();
          }
        },
        onClose(callback) {
          if (closed) callback();
          else callbacks.push(callback);
        },
      });
    },
    pull() {
      resumeWrites?.();
    },
    cancel: () => close({ reason: "canceled" }),
  });
}

/** Creates a response body that passes the pieces of a long text on in slices, as fast as the host reads them. */
export function createTextBodyStream(
  pieces: readonly string[],
  account: ByteAccount,
  stallWatch: WriteStallWatch | undefined,
): ReadableStream<Uint8Array> {
  return createFetchBodyStream(
    (sink) => {
      let isClosed = false;
      sink.onClose(() => {
        isClosed = true;
      });
      void writeTextInSlices(pieces, sink, () => isClosed);
    },
    account,
    stallWatch,
  );
}
