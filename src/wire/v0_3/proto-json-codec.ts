import type { OperationName, Operations, EventTextEncoder } from "../../protocol/index.ts";
import type { OperationCodec } from "../dialect.ts";
import type { OperationDecoder } from "../operation-messages.ts";
import { protoDecoder } from "./decode-proto.ts";
import { isLastEvent } from "./is-last-event.ts";
import { encodeProtoParams, toProtoEvent, toProtoResult } from "./proto-encode.ts";
import type { ProtoFileBytes } from "./proto-file-bytes.ts";

/** The client's half of a codec, which encodes parameters and decodes results. */
export interface ClientCodec extends Pick<OperationDecoder, "decodeResult"> {
  /**
   * Encodes the parameters of a request. Throws `UNSUPPORTED_OPERATION` if the protocol version does not
   * have the operation.
   */
  encodeParams<O extends OperationName>(operation: O, params: Operations[O]["params"]): object;
}

const PROTO_EVENT_SERIALIZERS: Readonly<Record<ProtoFileBytes, EventTextEncoder>> = {
  bytes: (event) => JSON.stringify(toProtoEvent(event, "bytes")),
  "base64-text": (event) => JSON.stringify(toProtoEvent(event, "base64-text")),
};

/**
 * Creates a codec for the ProtoJSON messages of the 0.3 proto. The messages are binary over gRPC, and JSON in
 * HTTP+JSON responses. A request identifies a task by resource name, as in the request messages of the proto.
 * `fileBytes` is the form of the files in results. The codec decodes both forms.
 */
export const createProtoJsonCodec = (fileBytes: ProtoFileBytes): OperationCodec & ClientCodec => ({
  ...protoDecoder,
  encodeParams: encodeProtoParams,
  toResultJson: (operation, result) => toProtoResult(operation, result, fileBytes),
  encodeEvent: (event) => event.encodeWith(PROTO_EVENT_SERIALIZERS[fileBytes]),
  isLastEvent,
});

/** The codec that writes files as the proto defines. */
export const protoJsonCodec: OperationCodec & ClientCodec = createProtoJsonCodec("bytes");
