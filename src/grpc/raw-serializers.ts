import { Metadata, type MethodDefinition } from "@grpc/grpc-js";
import { toBuffer } from "./field-codecs.ts";

function passThroughBytes(binary: Buffer): Uint8Array {
  return binary;
}

/**
 * gRPC serializers that return the bytes of a message unchanged. Colloquy's own codecs decode the bytes
 * and report invalid messages.
 */
export const RAW_SERIALIZERS: Pick<
  MethodDefinition<Uint8Array, Uint8Array>,
  "requestSerialize" | "requestDeserialize" | "responseSerialize" | "responseDeserialize"
> = {
  requestSerialize: toBuffer,
  requestDeserialize: passThroughBytes,
  responseSerialize: toBuffer,
  responseDeserialize: passThroughBytes,
};

/** Converts HTTP headers to gRPC metadata. */
export function toGrpcMetadata(headers: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}
