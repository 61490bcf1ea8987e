import { defineOptionNames } from "../../base/usage-checks/index.ts";
import {
  createStaticKeyResolver,
  KeysUnavailableError,
  UnknownKeyError,
  VerificationError,
  createJwksKeyResolver,
  verifyJws,
  type FetchKeysOptions,
  type JSONWebKeySet,
  type JWK,
  type KeyResolver,
} from "../../wire/keys/index.ts";
import { A2AError, type AgentCardSignature } from "../../protocol/index.ts";
import { canonicalizeCard } from "../../wire/canonical-card/index.ts";
import * as v1 from "../../wire/v1/index.ts";

/**
 * The key id, algorithm, and key set URL in the header of a card signature. An attacker can choose the key
 * id, algorithm, and URL, because the verifier reads them before it checks the signature.
 */
interface SignatureKeyInfo {
  readonly kid: string;
  readonly alg: string;
  /** The key set URL that the signer declares, which Colloquy never fetches. */
  readonly jku?: string;
}

/**
 * The keys that are trusted to sign agent cards. At least one of `keys`, `jwksUrls`, and `findKey` is
 * required.
 */
export interface CardTrustOptions extends FetchKeysOptions {
  /** Trusted public keys. */
  readonly keys?: JSONWebKeySet | readonly JWK[];
  /**
   * HTTPS URLs of trusted key sets in JWKS format. A key set is fetched on its first use and cached for the
   * lifetime of the verifier.
   */
  readonly jwksUrls?: string | readonly string[];
  /**
   * Returns the trusted public key for a card signature, for example based on the provider in the agent card.
   * Returns `undefined` if no trusted key exists for the signature.
   */
  readonly findKey?: (key: SignatureKeyInfo) => JWK | undefined | Promise<JWK | undefined>;
  /**
   * The canonical form that a card signature must cover. `specification` accepts only signatures over the
   * canonical form of A2A §8.4.1. `any` also accepts signatures over the form of the official SDKs, which
   * omits empty values. A signature over the SDKs' form does not protect empty values, such as a required
   * security scheme without scopes. Default: `any`.
   */
  readonly canonicalForm?: "specification" | "any";
}

const assertKnownOptions = defineOptionNames<CardTrustOptions>()(
  "createCardVerifier",
  "canonicalForm fetch findKey jwksUrls keys now",
);

/** The key of a valid card signature, and the canonical form that the signature covers. */
export interface VerifiedSignature extends SignatureKeyInfo {
  readonly canonicalForm: "specification" | "sdk";
}

/** Verifies an agent card. The argument is the JSON that the server sent. */
export type CardVerifier = (card: unknown) => Promise<VerifiedSignature>;

/**
 * Maximum number of signatures that are checked per agent card. The number of checked signatures is limited,
 * because each check is expensive and the server chooses how many signatures its card has.
 */
const MAX_SIGNATURES = 16;

/**
 * Verifies that a trusted key has signed the server's JSON of an agent card (A2A §8.4.3). Rejects with
 * `INVALID_AGENT_RESPONSE` if no signature is valid, and with `UNAVAILABLE` if a key set could not be
 * fetched.
 */
export function verifyCard(card: unknown, trust: CardTrustOptions): Promise<VerifiedSignature> {
  return createCardVerifier(trust)(card);
}

/** Creates a verifier for any number of agent cards. The verifier caches the key sets that it fetches. */
export function createCardVerifier(trust: CardTrustOptions): CardVerifier {
  assertKnownOptions(trust);
  const sources = createKeySets(trust);
  if (sources.length === 0) {
    throw new Error("The card verifier trusts no keys. Set keys, jwksUrls, or findKey.");
  }
  return async (card) => {
    const { specification, sdk } = canonicalizeCard(card);
    const forms = {
      specification,
      ...(trust.canonicalForm === "specification" || sdk === specification ? {} : { sdk }),
    };
    const { name, signatures = [], supportedInterfaces } = v1.decodeCard(card);
    // The fields that list the interfaces of a 0.3 card are not covered by a 1.0 signature.
    if (supportedInterfaces.length === 0)
      throw toVerificationError(name, signatures.length, [createUnsignedInterfacesError()]);
    const failures: unknown[] = [];
    for (const signature of signatures.slice(0, MAX_SIGNATURES)) {
      for (const [form, text] of Object.entries(forms)) {
        const payload = new TextEncoder().encode(text);
        for (const keys of sources) {
          try {
            return {
              ...(await verifySignature(payload, signature, keys)),
              canonicalForm: form as VerifiedSignature["canonicalForm"],
            };
          } catch (error) {
            failures.push(error);
          }
        }
      }
    }
    throw toVerificationError(name, signatures.length, failures);
  };
}

function createKeySets({ keys, jwksUrls = [], findKey, ...options }: CardTrustOptions): KeyResolver[] {
  const sources: KeyResolver[] = keys ? [createStaticKeyResolver(keys, options)] : [];
  for (const url of typeof jwksUrls === "string" ? [jwksUrls] : jwksUrls)
    sources.push(createJwksKeyResolver(url, options));
  if (findKey) sources.push(createKeyResolverFromFindKeyOption(findKey, options));
  return sources;
}

function createKeyResolverFromFindKeyOption(
  find: NonNullable<CardTrustOptions["findKey"]>,
  options: FetchKeysOptions,
): KeyResolver {
  return async (header, signature) => {
    const key = await find(parseKeyInfo(header));
    if (!key) throw new UnknownKeyError("its key is not trusted");
    return await createStaticKeyResolver([key], options)(header, signature);
  };
}

async function verifySignature(
  payload: Uint8Array,
  signature: AgentCardSignature,
  keys: KeyResolver,
): Promise<SignatureKeyInfo> {
  return parseKeyInfo(await verifyJws(payload, signature, keys));
}

/**
 * Reads the key id, the algorithm, and the key set URL from the header of a card signature. A2A §8.4.2
 * requires a key id in the header of each signature.
 */
function parseKeyInfo(header: { kid?: unknown; alg?: unknown; jku?: unknown } | undefined): SignatureKeyInfo {
  const { kid, alg, jku } = header ?? {};
  if (typeof kid !== "string" || typeof alg !== "string")
    throw new VerificationError("it does not name its key (kid)");
  return typeof jku === "string" ? { kid, alg, jku } : { kid, alg };
}

function createUnsignedInterfacesError(): VerificationError {
  return new VerificationError("its signature covers no interface (supportedInterfaces is empty)");
}

function toVerificationError(name: string, count: number, failures: readonly unknown[]): unknown {
  // An error while fetching or looking up keys is not a statement about the card.
  const otherError = failures.find((failure) => !(failure instanceof VerificationError));
  if (otherError instanceof KeysUnavailableError) {
    const text = `The signature of the card of ${JSON.stringify(name.slice(0, 80))} could not be verified: ${otherError.message}. Try again later.`;
    return new A2AError("UNAVAILABLE", text, { cause: otherError });
  }
  if (otherError !== undefined) return otherError;
  const reason =
    count === 0
      ? "it is not signed"
      : [...new Set(failures.map((failure) => (failure as VerificationError).message))].join("; ");
  const text = `The card of ${JSON.stringify(name.slice(0, 80))} has no trusted signature: ${reason}. Trust the signer's key, or connect without verification.`;
  const hasOnlyUnknownKeys = count > 0 && failures.every((failure) => failure instanceof UnknownKeyError);
  return new A2AError("INVALID_AGENT_RESPONSE", text, {
    cause: failures[0],
    ...(hasOnlyUnknownKeys ? { metadata: { unknownKey: "true" } } : {}),
  });
}
