import { BinaryReader } from "@bufbuild/protobuf/wire";
import { A2AError } from "../protocol/index.ts";

/** Reads a binary message, and throws PAYLOAD_TOO_LARGE if the message has more than `maxFields` fields. */
export class BoundedBinaryReader extends BinaryReader {
  readonly #maxFields: number;
  #fieldCount = 0;

  constructor(binary: Uint8Array, maxFields: number) {
    super(binary);
    this.#maxFields = maxFields;
  }

  /** Counts the tag of each field, also of unknown fields and of the fields of nested messages. */
  override tag(): ReturnType<BinaryReader["tag"]> {
    this.#fieldCount++;
    if (this.#fieldCount > this.#maxFields) throw createTooManyFieldsError(this.#maxFields);
    return super.tag();
  }
}

function createTooManyFieldsError(maxFields: number): A2AError {
  const limit = maxFields.toLocaleString("en");
  const message = `The request has more than ${limit} protobuf fields (twice maxJsonValues); send large data as text, as bytes, or by URL.`;
  return new A2AError("PAYLOAD_TOO_LARGE", message);
}
