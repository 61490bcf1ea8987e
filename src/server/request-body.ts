import { isUtf8 } from "node:buffer";
import { A2AError } from "../protocol/index.ts";

/** The text of a body that has arrived whole, or why it has none. */
export function decodeBodyText(bytes: Buffer): string | A2AError {
  return isUtf8(bytes)
    ? bytes.toString("utf8")
    : new A2AError("PARSE_ERROR", "The body is not UTF-8; send JSON encoded as UTF-8.");
}

export function createPayloadTooLargeError(maxBytes: number): A2AError {
  const limit = `${maxBytes.toLocaleString("en")} bytes`;
  return new A2AError("PAYLOAD_TOO_LARGE", `The body is larger than ${limit}; send large files by URL.`);
}
