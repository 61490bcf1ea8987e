import { A2AError } from "../protocol/index.ts";
import type { ProtocolVersion } from "./dialect.ts";

export interface VersionNegotiationInput {
  /** The `A2A-Version` header. */
  header: string | null | undefined;
  /** The `A2A-Version` query parameter; the header wins (A2A §3.6.1). */
  query: string | null | undefined;
  /** What this interface speaks. */
  supported: readonly ProtocolVersion[];
  /** What a request without a version means: 0.3, as A2A §3.6.2 has it, or what its shape says. */
  whenMissing: "0.3" | "infer";
  /** The version that the request looks like: `1.0` for a PascalCase method or a path of 1.0. Only for `infer`. */
  inferredVersion?: ProtocolVersion | undefined;
}

/** The version of a request as `Major.Minor`; throws VERSION_NOT_SUPPORTED for any other than the supported ones. */
export function negotiateVersion({
  header,
  query,
  supported,
  whenMissing: missing,
  inferredVersion: shape,
}: VersionNegotiationInput): ProtocolVersion {
  const asked = header?.trim() || query?.trim();
  const meant = asked ? parseMajorMinor(asked) : missing === "infer" && shape ? shape : "0.3";
  const chosen = supported.find((version) => version === meant);
  if (chosen) return chosen;
  const offer = supported.join(", ");
  const message = asked
    ? `A2A version ${JSON.stringify(asked.slice(0, 40))} is not supported here; send "A2A-Version: ${supported[0]}" (supported: ${offer}).`
    : `The request has no A2A-Version header, which means ${meant}; send "A2A-Version: ${supported[0]}" (supported: ${offer}).`;
  throw new A2AError("VERSION_NOT_SUPPORTED", message, { metadata: { supportedVersions: offer } });
}

/** The patch does not count (A2A §3.6): `1.0.1` is `1.0`. Undefined for what is no version. */
function parseMajorMinor(text: string): string | undefined {
  return /^((?:0|[1-9]\d*)\.(?:0|[1-9]\d*))(?:\.\d+)?$/.exec(text)?.[1];
}
