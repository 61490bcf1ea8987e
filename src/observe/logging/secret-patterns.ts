/**
 * Names and forms of secrets. Packages with such lists exist, but their patterns are for files: they know no names of
 * members and headers, need megabytes, and do not take linear time.
 */

/** The text that replaces a secret. */
export const REDACTED_VALUE = "***";

/** Names of which the last words are secrets, in lower case and without separators. */
const SECRET_NAME =
  /(?:passw(?:or)?d|passphrase|passcode|pwd|secrets?|credentials?|apikeys?|(?:account|app|access|auth|encryption|functions|hmac|master|private|secret|session|shared|signing|ssh|storage|subscription)key|keybase|authorization|cookies?|sessionid|jwt|connectionstring|authorizationcode|authcode|devicecode|codeverifier|clientassertion|(?:amz|goog|access)signature|(?:access|api|auth|refresh)tokens)(?:value|raw|prod|\d{1,3})?$|^(?:x?auth|bearer|basicauth|otp|pin|cvv|cvc)$/;

/** Names that end in `token`, except those of pages, positions, and models. */
const TOKEN_NAME = /token(?:value|\d{1,3})?$/;
const HARMLESS_TOKEN_NAME =
  /(?:page|next|continuation|sync|cursor|start|end|stop|eos|bos|pad|unk|mask|max|min|per|cancel(?:l?ation)?|resume|progress)token$/;

/** Headers with other credentials. Each name consists of words, as in `Ocp-Apim-Subscription-Key`. */
const SECRET_HEADER_WORD =
  /(?:^|[-_])(?:auth|authorization|apikey|cookie|credentials?|key|password|passwd|secret|session|signature|token)(?:[-_]|$)/;

/** Names with a secret word that contain no secret: challenges, and keys that only identify something. */
const READABLE_NAMES: ReadonlySet<string> = new Set([
  "www-authenticate",
  "proxy-authenticate",
  "authentication-info",
  "idempotency-key",
  "x-idempotency-key",
  "sec-websocket-key",
  "surrogate-key",
]);

/** Query parameters that contain secrets in URLs, although members of the same name do not. */
const SECRET_QUERY_NAME = /^(?:auth|code|key|sig|signature)$/;

/** Maximum number of names whose classification is remembered. */
const MAX_KNOWN_NAMES = 2_000;
/** The last words of a longer name decide. */
const MAX_NAME_LENGTH = 64;
const secretNames = new Map<string, boolean>();

/** Returns whether the value of a member, variable, option, or parameter with this name is a secret. */
export function isSecretName(fullName: string): boolean {
  const name = fullName.slice(-MAX_NAME_LENGTH);
  let isSecret = secretNames.get(name);
  if (isSecret === undefined) {
    const words = name.toLowerCase().replaceAll(/[^a-z\d]/g, "");
    isSecret =
      !isReadableName(name) &&
      (SECRET_NAME.test(words) || (TOKEN_NAME.test(words) && !HARMLESS_TOKEN_NAME.test(words)));
    if (secretNames.size >= MAX_KNOWN_NAMES) secretNames.clear();
    secretNames.set(name, isSecret);
  }
  return isSecret;
}

/** Returns whether the value of a header is a secret. `name` is in lower case. */
export function isSecretHeaderName(name: string): boolean {
  return !isReadableName(name) && (SECRET_HEADER_WORD.test(name) || isSecretName(name));
}

/** Returns whether the value of a member or header stays readable, although its name has a secret word. */
export function isReadableName(name: string): boolean {
  return READABLE_NAMES.has(name.toLowerCase());
}

export function isSecretQueryName(name: string): boolean {
  return SECRET_QUERY_NAME.test(name.toLowerCase()) || isSecretName(name);
}

/** Tokens and keys with a prefix that has no other use. */
export const PREFIXED_SECRET: RegExp =
  /\b(sk-|sk_(?:live|test)_|rk_(?:live|test)_|AIza|gh[pousr]_|github_pat_|xox[abeprs]-|xapp-|AKIA|ASIA|gl(?:pat|dt|ft|rt|cbt|ptt|soat)-|pypi-|do[opr]_v1_|shp(?:at|ss|ca|pa)_|ya29\.|GOCSPX-|whsec_|lin_api_|figd_|PMAK-|dckr_pat_|ATATT|AGE-SECRET-KEY-|hv[sbr]\.|sntry[su]_|glsa_|sb_secret_|npm_|hf_|gsk_|r8_|xai-|pplx-|tvly-|nvapi-|sbp_|rubygems_|dapi|SG\.|\d+:AA)([\w-]+)(?:\.[\w.-]*)?/g;

/** Prefixes that also occur in other words, such as `npm_config_registry`. */
const AMBIGUOUS_PREFIX = /^(?:npm_|hf_|gsk_|r8_|xai-|pplx-|tvly-|nvapi-|sbp_|rubygems_|dapi|SG\.|\d+:AA)$/;

/** Returns whether the text after a prefix is long enough for a token or key. */
export function isPrefixedSecret(prefix: string, rest: string): boolean {
  return rest.length >= (AMBIGUOUS_PREFIX.test(prefix) ? 16 : 8);
}

/** The first line of a private key in PEM. */
export const PRIVATE_KEY_BEGINNING: RegExp = /-----BEGIN [A-Z\d ]*PRIVATE KEY(?: BLOCK)?-----/g;

/** A JWT or JWE. The pattern also matches texts with fewer segments, to stay linear. */
export const JWT: RegExp = /\beyJ[\w-]{5,}(?:\.[\w-]*)*/g;

/** User and password in a URL, or a token. */
export const URL_CREDENTIALS: RegExp = /:\/\/([^\s/@"'<>\\]+)@/g;

/** Credentials after their scheme, as in an Authorization header. */
export const SCHEME_CREDENTIALS: RegExp = /\b(Bearer|Basic|DPoP|Negotiate|ApiKey)\s+([\w.~+/=-]+)/gi;

/** Paths of webhooks that anybody who knows them can call. */
export const SECRET_WEBHOOK_URL: RegExp =
  /(hooks\.slack\.com\/(?:services|workflows|triggers)\/|discord(?:app)?\.com\/api\/webhooks\/)[\w/-]+/gi;

/** Secrets without a separator after the name: in `.netrc`, in options of a command, and in SQL. */
export const PASSWORD_WORD: RegExp = /\b(password\s+)([^\s"'`]+)/gi;
export const OPTION_VALUE: RegExp = /(--[a-z]\w*(?:-\w+)*)(\s+)([^\s"'`-][^\s"'`]*)/gi;
export const SQL_PASSWORD: RegExp = /\b(password|identified by)(\s+)'[^'\n]*'/gi;

/** A parameter in the query of a URL. */
export const QUERY_PARAMETER: RegExp = /([?&;])([\w.~%+[\]-]+)=([^?&;#\s"'`<>\\]+)/g;

/** Lists of which the strings are secrets. A list of scopes can have the name of a security scheme. */
export const SECRET_LIST_NAME: RegExp = /cookie|password|secret|credential|token|-key$|^authorization$/i;

/** What can separate a name from its value. */
export const SEPARATOR: RegExp = /=>|[:=>]/g;

/**
 * Cheap tests that exclude most texts without secrets: for separators after a name, for separators of a prefix, for
 * spaces after a scheme or an option, and for other marks. Each test looks for a rare character and then at the text
 * before it, which is many times as fast as a search for the words. The names are grouped by their last letters.
 */
const MARKS: readonly RegExp[] = [
  /d\]?["'`=:>\\](?<=(?:w(?:or)?d|session[-_]?id|(?:secret|token|key|word)[-_]?prod)\]?["'`=:>\\])|e\]?["'`=:>\\](?<=(?:phrase|(?:pass|auth|ization[-_]?|device[-_]?)code|cookie|signature|key[-_]?base|(?:secret|token|key|word|credential)[-_]?value|[?&;]code)\]?["'`=:>\\])|g\]?["'`=:>\\](?<=(?:connection[-_ ]?string|[?&;]sig)\]?["'`=:>\\])|h\]?["'`=:>\\](?<=(?:auth)\]?["'`=:>\\])|l\]?["'`=:>\\](?<=(?:credential)\]?["'`=:>\\])|n\]?["'`=:>\\](?<=(?:token|authorization|assertion|pin)\]?["'`=:>\\])|p\]?["'`=:>\\](?<=(?:otp)\]?["'`=:>\\])|r\]?["'`=:>\\](?<=(?:verifier|bearer)\]?["'`=:>\\])|s\]?["'`=:>\\](?<=(?:secrets|tokens|credentials|keys|cookies)\]?["'`=:>\\])|t\]?["'`=:>\\](?<=(?:secret|jwt)\]?["'`=:>\\])|w\]?["'`=:>\\](?<=(?:(?:secret|token|key|word)[-_]?raw)\]?["'`=:>\\])|y\]?["'`=:>\\](?<=(?:[\w .-]key|[?&;]key)\]?["'`=:>\\])|\d\]?["'`=:>\\](?<=(?:(?:w(?:or)?d|phrase|secret|token|key|cookie)\d{1,3})\]?["'`=:>\\])/i,
  /[-_.](?<=\b(?:[srp]k|gh[pousr]|pat|npm|hf|gsk|r8|sbp|whsec|api|xox[a-z]|xapp|gl[a-z]{2,5}|pypi|xai|pplx|tvly|nvapi|do[opr]|ya29|shp[a-z]{2}|hv[sbr]|sg|sb|figd|pmak|gocspx|dckr|github|secret|glsa|sntry[su]|rubygems|lin|sq0[a-z]{3})[-_.])/i,
  /\s(?<=(?:bearer|basic|dpop|negotiate|apikey|identified by|w(?:or)?d|phrase|secret|token|key|auth|authorization|cookie|credential|jwt)\s)/i,
  /A(?:Iza|KIA|SIA|TATT)|eyJ|-----B|--[a-z]|:AA|dapi|hooks\.slack|\/webhooks\/|:\/\/[^\s/@"'<>]+@/,
];

/** Returns whether a text can contain a secret by its name or by its form. */
export function mayContainSecret(text: string): boolean {
  return MARKS.some((mark) => mark.test(text));
}
