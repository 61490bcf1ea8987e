import { isObject, type JsonValue, parseJsonOrUndefined, truncateText } from "../../protocol/index.ts";
import { findNameBefore, findValue, isPlainWord, isQuote } from "./named-values.ts";
import * as patterns from "./secret-patterns.ts";

/** Options of `createRedactor`. */
export interface RedactorOptions {
  /** Secrets that are known, such as the credentials of a command. The redactor finds them in every encoding. */
  readonly secrets?: readonly string[];
  /** Variables with secrets such as `OPENAI_API_KEY`. Default: the environment, which is read once. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Replaces secrets with `***`. Each method takes time in proportion to the length of its input. */
export interface Redactor {
  /**
   * Adds the names of the API keys in the security schemes of a server or of an agent card, in A2A 1.0 or 0.3. Values
   * that are no security schemes are ignored.
   */
  addSecuritySchemes(schemes: unknown): void;
  redactText(text: string): string;
  /** Redacts the first part of a text before it shortens the text, so that no beginning of a secret remains. */
  redactAndTruncate(text: string, maxLength: number): string;
  /** Redacts the strings in JSON text. The result is valid JSON. */
  redactJson(jsonText: string): string;
  redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string>;
}

/** Names of environment variables whose values are secrets. `PWD` is the working directory, and no password. */
const SECRET_VARIABLE_NAME =
  /^(?!(?:OLD)?PWD$).*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PWD|CREDENTIALS?)$/i;
/** Shorter values of variables are not redacted, because they also occur in texts without secrets. */
const MIN_VARIABLE_LENGTH = 8;
/** Text after the maximum length that is redacted, too, because secrets there become shorter. */
const REDUNDANT_LENGTH = 65_536;
/** An agent card of a stranger decides which names are secret. */
const MAX_DECLARED_NAMES = 256;
const MAX_DECLARED_NAME_LENGTH = 128;
const MAX_JSON_DEPTH = 200;

/**
 * Creates the redactor of logs, records, and the output of commands. Names that security schemes declare come first,
 * then the known values, and then the names and forms of common secrets.
 */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  return new SecretRedactor(options);
}

let sharedRedactor: Redactor | undefined;

/** Returns the redactor of the log and of the console. Servers add the security schemes that they accept. */
export function getSharedRedactor(): Redactor {
  return (sharedRedactor ??= createRedactor());
}

/** Returns a copy of HTTP headers with `***` instead of credentials, cookies, tokens, and keys. */
export function redactSecretHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return getSharedRedactor().redactHeaders(headers);
}

class SecretRedactor implements Redactor {
  readonly #values: readonly string[];
  /** The values as they are in texts and in JSON. */
  readonly #valueMarks: readonly string[];
  readonly #declaredNames = new Set<string>();
  readonly #declaredQueryNames = new Set<string>();
  /** Texts of which one occurs in every text with a declared name. */
  #declaredMarks: readonly string[] = [];

  constructor({ secrets = [], env = readEnvironment() }: RedactorOptions) {
    const variables = Object.entries(env).flatMap(([name, value = ""]) =>
      SECRET_VARIABLE_NAME.test(name) && value.length >= MIN_VARIABLE_LENGTH ? value : [],
    );
    const shapes = [...variables, ...secrets.filter((secret) => secret !== "").flatMap(listEncodings)];
    // Replaces longer secrets first, so that a shorter secret inside a longer one leaves no remainder.
    this.#values = [...new Set(shapes)].toSorted((a, b) => b.length - a.length);
    this.#valueMarks = [...new Set([...this.#values, ...this.#values.map(escapeJson)])];
  }

  addSecuritySchemes(schemes: unknown): void {
    if (!isObject(schemes)) return;
    for (const scheme of Object.values(schemes)) {
      const { location, name } = readApiKeyScheme(scheme);
      if (typeof name !== "string" || name === "" || name.length > MAX_DECLARED_NAME_LENGTH) continue;
      if (patterns.isReadableName(name)) continue;
      const names = location === "query" ? this.#declaredQueryNames : this.#declaredNames;
      if (names.size < MAX_DECLARED_NAMES) names.add(name.toLowerCase());
    }
    this.#declaredMarks = [
      ...this.#declaredNames,
      ...[...this.#declaredQueryNames].flatMap((name) => listEncodings(name).map((shape) => `${shape}=`)),
    ];
  }

  redactText(text: string): string {
    return this.#mayContainSecret(text) ? this.#redactSecrets(text) : text;
  }

  redactAndTruncate(text: string, maxLength: number): string {
    if (text.length <= maxLength) return this.redactText(text);
    const beginning = text.slice(0, maxLength + REDUNDANT_LENGTH);
    const clean = this.redactText(beginning);
    // The end of a beginning that became much shorter can be a part of a secret.
    const isCut = beginning.length < text.length && clean.length < maxLength;
    const end = isCut ? Math.max(clean.lastIndexOf(" "), clean.lastIndexOf('"')) : maxLength;
    return truncateText(clean, end);
  }

  redactJson(jsonText: string): string {
    if (!this.#mayContainSecret(jsonText)) return jsonText;
    return JSON.stringify(this.#redactValue(JSON.parse(jsonText) as JsonValue, 0));
  }

  redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(headers).map(([name, value]) => {
        const key = name.toLowerCase();
        if (patterns.isReadableName(key)) return [name, value];
        const isSecret = patterns.isSecretHeaderName(key) || this.#declaredNames.has(key);
        return [name, isSecret ? patterns.REDACTED_VALUE : this.redactText(value)];
      }),
    );
  }

  #mayContainSecret(text: string): boolean {
    if (patterns.mayContainSecret(text)) return true;
    if (this.#valueMarks.some((value) => text.includes(value))) return true;
    if (this.#declaredMarks.length === 0) return false;
    const lowerCase = text.toLowerCase();
    return this.#declaredMarks.some((mark) => lowerCase.includes(mark));
  }

  #redactValue(value: JsonValue, depth: number): JsonValue {
    if (typeof value === "string") return this.#redactString(value, depth);
    if (typeof value !== "object" || value === null) return value;
    // Deeper values are not part of A2A objects, and the stack has an end.
    if (depth > MAX_JSON_DEPTH) return patterns.REDACTED_VALUE;
    if (Array.isArray(value)) return value.map((item) => this.#redactValue(item, depth + 1));
    const members: [string, JsonValue][] = [];
    // In lists of headers, variables, and form fields, the name is a value itself.
    const label = value["name"] ?? value["key"] ?? value["header"];
    const isValueSecret = typeof label === "string" && this.#isSecretMember(label);
    for (const [name, member] of Object.entries(value))
      members.push([
        // A name of a member can be a secret, as in a map of tokens.
        this.redactText(name),
        patterns.isReadableName(name)
          ? member
          : this.#isSecretMember(name) || (isValueSecret && name === "value")
            ? this.#redactSecretMember(name, member, depth + 1)
            : this.#redactValue(member, depth + 1),
      ]);
    return Object.fromEntries(members);
  }

  /** Redacts JSON text in a string as JSON, because the escapes in it hide where its values begin. */
  #redactString(text: string, depth: number): string {
    if (!this.#mayContainSecret(text)) return text;
    const json = /^\s{0,8}[[{"]/.test(text) ? parseJsonOrUndefined(text) : undefined;
    return json === undefined
      ? this.#redactSecrets(text)
      : JSON.stringify(this.#redactValue(json, depth + 1));
  }

  /** Objects below a secret name stay readable, because they can be declarations of security schemes. */
  #redactSecretMember(name: string, value: JsonValue, depth: number): JsonValue {
    if (typeof value === "string") return value === "" ? value : patterns.REDACTED_VALUE;
    // As in texts, short numbers are no secrets.
    if (typeof value === "number" && value > 999) return patterns.REDACTED_VALUE;
    if (!Array.isArray(value) || !patterns.SECRET_LIST_NAME.test(name))
      return this.#redactValue(value, depth);
    return value.map((item) =>
      typeof item === "string" ? patterns.REDACTED_VALUE : this.#redactValue(item, depth + 1),
    );
  }

  /** An agent must not hide its texts with a scheme whose name is `text`, and members of A2A have no hyphens. */
  #isSecretMember(name: string): boolean {
    return patterns.isSecretName(name) || (name.includes("-") && this.#declaredNames.has(name.toLowerCase()));
  }

  #redactSecrets(text: string): string {
    let clean = text;
    if (clean.includes("="))
      clean = clean.replaceAll(
        patterns.QUERY_PARAMETER,
        (parameter: string, mark: string, name: string): string =>
          this.#isSecretQueryName(name) ? `${mark}${name}=${patterns.REDACTED_VALUE}` : parameter,
      );
    for (const value of this.#values)
      if (clean.includes(value)) clean = clean.replaceAll(value, patterns.REDACTED_VALUE);
    clean = clean
      .replaceAll(patterns.SCHEME_CREDENTIALS, redactSchemeCredentials)
      .replaceAll(patterns.PREFIXED_SECRET, redactPrefixedSecret);
    if (clean.includes("-----BEGIN")) clean = redactPrivateKeys(clean);
    if (clean.includes("eyJ"))
      clean = clean.replaceAll(patterns.JWT, (match) =>
        match.split(".", 3).length === 3 ? patterns.REDACTED_VALUE : match,
      );
    if (clean.includes("://"))
      clean = clean
        .replaceAll(patterns.URL_CREDENTIALS, (match: string, user: string): string =>
          user.includes(":") || user.length >= 20 ? `://${patterns.REDACTED_VALUE}@` : match,
        )
        .replaceAll(patterns.SECRET_WEBHOOK_URL, `$1${patterns.REDACTED_VALUE}`);
    clean = clean
      .replaceAll(patterns.SQL_PASSWORD, `$1$2'${patterns.REDACTED_VALUE}'`)
      .replaceAll(patterns.PASSWORD_WORD, (match: string, before: string, value: string): string =>
        /\d/.test(value) && !/^[:=]/.test(value) ? before + patterns.REDACTED_VALUE : match,
      );
    if (clean.includes("--"))
      clean = clean.replaceAll(
        patterns.OPTION_VALUE,
        (option: string, name: string, space: string, value: string): string =>
          patterns.isSecretName(name) && !isPlainWord(value)
            ? name + space + patterns.REDACTED_VALUE
            : option,
      );
    return this.#redactNamedValues(clean);
  }

  #isSecretQueryName(name: string): boolean {
    const decoded = /[%+]/.test(name) ? decodeName(name) : name;
    return this.#declaredQueryNames.has(decoded.toLowerCase()) || patterns.isSecretQueryName(decoded);
  }

  /** Redacts the values of assignments, members, and headers in a text. */
  #redactNamedValues(text: string): string {
    let clean = "";
    let copied = 0;
    patterns.SEPARATOR.lastIndex = 0;
    for (let match = patterns.SEPARATOR.exec(text); match; match = patterns.SEPARATOR.exec(text)) {
      const separator = match[0];
      const { name, start } = findNameBefore(text, match.index);
      if (!patterns.isSecretName(name) && !this.#declaredNames.has(name.toLowerCase())) continue;
      // In XML, the name is a tag.
      if (separator === ">" && text[start - 1] !== "<") continue;
      const value = findValue(text, start, name, match.index + separator.length);
      patterns.SEPARATOR.lastIndex = Math.max(patterns.SEPARATOR.lastIndex, value.end);
      if (!value.isSecret) continue;
      clean += `${text.slice(copied, value.start)}${patterns.REDACTED_VALUE}`;
      copied = value.end;
    }
    return clean + text.slice(copied);
  }
}

/** Text such as `Basic information` or `Bearer realm="a"` contains no credentials. */
function redactSchemeCredentials(
  match: string,
  scheme: string,
  value: string,
  offset: number,
  text: string,
): string {
  if (value.length < MIN_VARIABLE_LENGTH) return match;
  // The end of credentials in Base64 looks like a parameter, too.
  const isParameter = /^[a-z_]+=$/.test(value) && '"\\'.includes(text[offset + match.length] ?? " ");
  return !isParameter && (/\d/.test(value) || value.length >= 20)
    ? `${scheme} ${patterns.REDACTED_VALUE}`
    : match;
}

/** A period at the end belongs to the sentence. */
function redactPrefixedSecret(match: string, prefix: string, rest: string): string {
  if (!patterns.isPrefixedSecret(prefix, rest)) return match;
  return match.endsWith(".") ? `${patterns.REDACTED_VALUE}.` : patterns.REDACTED_VALUE;
}

/** Redacts private keys in PEM, also if the end of a key is cut off or if its line ends are escaped. */
function redactPrivateKeys(text: string): string {
  let clean = "";
  let copied = 0;
  patterns.PRIVATE_KEY_BEGINNING.lastIndex = 0;
  for (
    let match = patterns.PRIVATE_KEY_BEGINNING.exec(text);
    match;
    match = patterns.PRIVATE_KEY_BEGINNING.exec(text)
  ) {
    let end = match.index + match[0].length;
    while (end < text.length && !isQuote(text[end]) && !text.startsWith("-----", end)) end += 1;
    if (text.startsWith("-----END ", end)) {
      end += "-----END ".length;
      while (/[A-Z ]/.test(text[end] ?? "")) end += 1;
      if (text.startsWith("-----", end)) end += "-----".length;
    }
    clean += `${text.slice(copied, match.index)}${patterns.REDACTED_VALUE}`;
    copied = end;
    patterns.PRIVATE_KEY_BEGINNING.lastIndex = end;
  }
  return clean + text.slice(copied);
}

/** Reads the declaration of an API key in A2A 1.0 or 0.3. */
function readApiKeyScheme(scheme: unknown): { location?: unknown; name?: unknown } {
  if (!isObject(scheme)) return {};
  const { apiKeySecurityScheme: nested, type, in: location, name } = scheme;
  if (isObject(nested)) return { location: nested["location"], name: nested["name"] };
  return type === "apiKey" ? { location, name } : {};
}

/** Returns the forms in which an agent can return a secret. */
function listEncodings(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  return [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ a: secret }).toString().slice(2),
    escapeJson(secret),
    btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")),
  ];
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll("+", " "));
  } catch {
    return name;
  }
}

/** Hides the user and the password of a URL, such as the URL of a database. */
export function redactUserInfo(url: string): string {
  return url.replace(/\/\/[^/]*@/, `//${patterns.REDACTED_VALUE}@`);
}

/** Returns no variables on runtimes without an environment and without permission to read it. */
function readEnvironment(): Readonly<Record<string, string | undefined>> {
  try {
    return { ...process.env };
  } catch {
    return {};
  }
}
