import { A2AError } from "../protocol/index.ts";
import type { ProtocolVersion } from "./dialect.ts";

/** Inputs from which the protocol version of a request is determined. */
export interface VersionNegotiationInput {
  /** Value of the `A2A-Version` header. */
  header: string | null | undefined;
  /** Value of the `A2A-Version` query parameter. The header takes precedence (A2A §3.6.1). */
  query: string | null | undefined;
  /** Protocol versions that the interface supports. */
  supported: readonly ProtocolVersion[];
  /**
   * Version of a request that names none: `0.3` as A2A §3.6.2 defines, or `infer` to use `inferredVersion`.
   */
  whenMissing: "0.3" | "infer";
  /**
   * Version that the form of the request indicates: `1.0` for a PascalCase method or a 1.0 path. The value is
   * used only if `whenMissing` is `infer`.
   */
  inferredVersion?: ProtocolVersion | undefined;
}

/**
 * Returns the protocol version of a request. Throws `VERSION_NOT_SUPPORTED` if the interface does not support
 * that version.
 */
export function negotiateVersion({
  header,
  query,
  supported,
  whenMissing,
  inferredVersion,
}: VersionNegotiationInput): ProtocolVersion {
  const explicit = header?.trim() || query?.trim();
  const requested = explicit
    ? parseMajorMinor(explicit)
    : whenMissing === "infer" && inferredVersion
      ? inferredVersion
      : "0.3";
  const version = supported.find((one) => one === requested);
  if (version) return version;
  const supportedVersions = supported.join(", ");
  const message = explicit
    ? `A2A version ${JSON.stringify(explicit.slice(0, 40))} is not supported here; send "A2A-Version: ${supported[0]}" (supported: ${supportedVersions}).`
    : `The request has no A2A-Version header, which means ${requested}; send "A2A-Version: ${supported[0]}" (supported: ${supportedVersions}).`;
  throw new A2AError("VERSION_NOT_SUPPORTED", message, { metadata: { supportedVersions } });
}

/**
 * Parses `Major.Minor` and ignores the patch (A2A §3.6): `1.0.1` is `1.0`. Returns `undefined` for invalid
 * versions.
 */
function parseMajorMinor(text: string): string | undefined {
  return /^((?:0|[1-9]\d*)\.(?:0|[1-9]\d*))(?:\.\d+)?$/.exec(text)?.[1];
}
