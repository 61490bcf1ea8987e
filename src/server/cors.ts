import { defineOptionNames } from "../base/usage-checks/index.ts";

/** Options for pages of other origins. */
export interface CorsOptions {
  /** Origins of the pages, such as `https://shop.example`, or `*` for all pages. */
  readonly origins: readonly string[] | "*";
  /**
   * Whether pages may send the cookies and TLS client certificates of the browser. Bearer tokens and API keys need no
   * such permission. Requires a list of origins. Default: false.
   */
  readonly credentials?: boolean;
  /** Whether pages of public websites may call a server in a private network. Default: false. */
  readonly privateNetwork?: boolean;
  /** Time in seconds for which browsers keep the answer to a preflight request. Default: 600. */
  readonly maxAgeSeconds?: number;
}

const assertKnownOptions = defineOptionNames<CorsOptions>()(
  '"cors" of createServer',
  "credentials maxAgeSeconds origins privateNetwork",
);

/** Throws an error if an option is invalid, because types do not protect untyped code. */
export function assertValidCorsOptions(cors: CorsOptions): void {
  assertKnownOptions(cors);
  const { origins, credentials, maxAgeSeconds = 0 } = cors;
  if (!isOriginList(origins) || origins.length === 0)
    throw new Error(
      `"cors.origins" is ${JSON.stringify(origins)}; use "*" or a list such as ["https://shop.example"].`,
    );
  if (origins === "*" && credentials)
    throw new Error(
      `"cors.credentials" requires a list of origins, because any page could use the user's cookies; list the origins.`,
    );
  if (!Number.isInteger(maxAgeSeconds) || maxAgeSeconds < 0)
    throw new Error(
      `"cors.maxAgeSeconds" is ${JSON.stringify(maxAgeSeconds)}; use a whole number of seconds.`,
    );
}

/** A URL with a path never equals an `Origin` header, so the option would have no effect. */
export function isOriginList(origins: unknown): boolean {
  return (
    origins === "*" || (Array.isArray(origins) && origins.every((one) => URL.parse(one)?.origin === one))
  );
}

/** Returns the origins whose pages may send state-changing requests. */
export function joinAllowedOrigins(
  allowedOrigins: readonly string[] | "*" = [],
  cors: Pick<CorsOptions, "origins"> = { origins: [] },
): readonly string[] | "*" {
  return allowedOrigins === "*" || cors.origins === "*" ? "*" : [...allowedOrigins, ...cors.origins];
}
