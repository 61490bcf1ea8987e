import { A2AError } from "../protocol/index.ts";
import type { ProtocolVersion } from "./dialect.ts";

/** Values that the server uses to determine the protocol version of a request. */
export interface VersionNegotiationInput {
  /** Value of the `A2A-Version` header. */
  header: string | null | undefined;
  /**
   * Value of the `A2A-Version` query parameter. The `A2A-Version` header takes precedence over the query
   * parameter (A2A §3.6.1).
   */
  query: string | null | undefined;
  /** Protocol versions that the interface supports. */
  supported: readonly ProtocolVersion[];
  /**
   * Protocol version of a request without `A2A-Version`. The value `0.3` follows A2A §3.6.2, and the value
   * `infer` selects `inferredVersion`.
   */
  whenMissing: "0.3" | "infer";
  /**
   * Protocol version that the form of the request indicates. The version is `1.0` if the request has a
   * PascalCase method or a 1.0 path. The inferred version is used only if `whenMissing` is `infer`.
   */
  inferredVersion?: ProtocolVersion | undefined;
}

/**
 * Returns the protocol version of a request. Throws `VERSION_NOT_SUPPORTED` if the interface does not
 * support the version.
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
 * Parses a version of the form `Major.Minor` and ignores a patch version (A2A §3.6). For example, `1.0.1`
 * becomes `1.0`. Returns `undefined` if the version is invalid.
 */
function parseMajorMinor(text: string): string | undefined {
  return /^((?:0|[1-9]\d*)\.(?:0|[1-9]\d*))(?:\.\d+)?$/.exec(text)?.[1];
}
