import type { OperationName, Operations } from "../protocol/index.ts";
import type { PeerLeniency } from "./leniency.ts";
import type { FindSchema } from "./object-schema.ts";
import { decodeRequestStrictly, decodeResponseTolerantly } from "./proto-json-schema.ts";

/**
 * Names of the request message, of the result message, and of the gRPC method of each operation. By default, the gRPC
 * method has the name of the operation.
 */
export type OperationMessages<Operation extends OperationName = OperationName> = Readonly<
  Record<Operation, readonly [request: string, result: string, method?: string]>
>;

/** The decoding half of a codec. */
export interface OperationDecoder {
  /** Decodes the parameters of a request. Throws an `INVALID_PARAMS` error that lists every violation with its path. */
  readonly decodeParams: <O extends OperationName>(
    operation: O,
    json: unknown,
    leniency?: PeerLeniency,
  ) => Operations[O]["params"];
  /**
   * Decodes a result, or one event of a stream, in tolerant mode. Throws `INVALID_AGENT_RESPONSE` if the result or
   * event is unusable.
   */
  readonly decodeResult: <O extends OperationName>(
    operation: O,
    json: unknown,
    leniency?: PeerLeniency,
  ) => Operations[O]["result"];
}

/** Creates a decoder for the operations of a dialect from the messages of the operations. */
export function createOperationDecoder(
  messages: OperationMessages,
  findSchema: FindSchema,
): OperationDecoder {
  return {
    decodeParams: <O extends OperationName>(operation: O, json: unknown, leniency?: PeerLeniency) =>
      decodeRequestStrictly(
        findSchema(messages[operation][0]),
        json,
        "params",
        leniency,
      ) as Operations[O]["params"],
    decodeResult: <O extends OperationName>(operation: O, json: unknown, leniency?: PeerLeniency) =>
      decodeResponseTolerantly(
        findSchema(messages[operation][1]),
        json,
        "result",
        "tolerant",
        leniency,
      ) as Operations[O]["result"],
  };
}
