import { findMessageJsonInStatusUpdate } from "../../protocol/index.ts";
import * as v1 from "../../wire/v1/index.ts";
import type { Transport } from "../transport/transport.ts";

/**
 * Wraps a transport that requests the message events extension. A status update that contains a user's message
 * becomes a `message` event with the id of its task.
 */
export function withMessageEvents(transport: Transport): Transport {
  return {
    version: transport.version,
    call: (operation, params, call) => transport.call(operation, params, call),
    async *stream(operation, params, call) {
      for await (const received of transport.stream(operation, params, call)) {
        const message = findMessageJsonInStatusUpdate(received.event);
        yield message
          ? { ...received, event: v1.decodeResult("SendStreamingMessage", { message }) }
          : received;
      }
    },
  };
}
