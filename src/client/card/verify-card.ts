import {
  createStaticKeyResolver,
  KeysUnavailableError,
  VerificationError,
  createJwksKeyResolver,
  verifyJws,
  type FetchKeysOptions,
  type JSONWebKeySet,
  type JWK,
  type KeyResolver,
} from "../../keys/index.ts";
import { A2AError, type AgentCardSignature } from "../../protocol/index.ts";
import { v1 } from "../../wire/index.ts";

/**
 * The key data in the header of a signature. The key data is unverified until the signature has been checked.
 */
interface SignatureKeyInfo {
  readonly kid: string;
  readonly alg: string;
  /** The key set URL that the signer declares. Colloquy never fetches keys from it. */
  readonly jku?: string;
}

/** The keys that are trusted to sign cards. At least one of `keys`, `jwksUrls`, and `findKey` is required. */
export interface CardTrustOptions extends FetchKeysOptions {
  /** Trusted public keys. */
  readonly keys?: JSONWebKeySet | readonly JWK[];
  /**
   * HTTPS URLs of trusted key sets (JWKS). A key set is fetched on first use and cached as long as the
   * verifier exists.
   */
  readonly jwksUrls?: string | readonly string[];
  /** Returns a trusted public key, for example by provider. Returns `undefined` if no key is trusted. */
  readonly findKey?: (key: SignatureKeyInfo) => JWK | undefined | Promise<JWK | undefined>;
  /**
   * The canonical form that a signature must cover. `specification` accepts only the form of A2A §8.4.1.
   * `any` also accepts the form of the official SDKs, which omits empty values. A signature over the SDK form
   * does not protect, for example, a required scheme without scopes. Default: `any`.
   */
  readonly canonicalForm?: "specification" | "any";
}

/** The key of a valid signature, and the canonical form that it covers. */
export interface VerifiedSignature extends SignatureKeyInfo {
  readonly canonicalForm: "specification" | "sdk";
}

/** Verifies an agent card. The card is passed as the JSON that the server sent. */
export type CardVerifier = (card: unknown) => Promise<VerifiedSignature>;

/**
 * Maximum number of signatures that are checked. Each signature check is expensive, and the server of the
 * card chooses the number of signatures.
 */
const MAX_SIGNATURES = 16;

/**
 * Verifies that a trusted key has signed a card (A2A §8.4.3). The card is passed as the JSON that the server
 * sent. Rejects with `INVALID_AGENT_RESPONSE` if no signature is valid, and with `UNAVAILABLE` if keys could
 * not be fetched.
 */
export function verifyCard(card: unknown, trust: CardTrustOptions): Promise<VerifiedSignature> {
  return createCardVerifier(trust)(card);
}

/** Creates a verifier for several cards, which caches fetched keys between them. */
export function createCardVerifier(trust: CardTrustOptions): CardVerifier {
  const sources = createKeySets(trust);
  if (sources.length === 0) {
    throw new Error("The card verifier trusts no keys. Set keys, jwksUrls, or findKey.");
  }
  return async (card) => {
    const { specification, sdk } = v1.canonicalizeCard(card);
    const forms = {
      specification,
      ...(trust.canonicalForm === "specification" || sdk === specification ? {} : { sdk }),
    };
    const { name, signatures = [], supportedInterfaces } = v1.decodeCard(card);
    // The fields that list the interfaces of a 0.3 card are not covered by a 1.0 signature.
    if (supportedInterfaces.length === 0)
      throw toVerificationError(name, signatures.length, [createNoInterfaceError()]);
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
  if (findKey) sources.push(createLookupKeySet(findKey, options));
  return sources;
}

function createLookupKeySet(
  find: NonNullable<CardTrustOptions["findKey"]>,
  options: FetchKeysOptions,
): KeyResolver {
  return async (header, signature) => {
    const key = await find(parseKeyInfo(header));
    if (!key) throw new VerificationError("its key is not trusted");
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

/** Reads the key data from a signature header. A2A §8.4.2 requires a key id. */
function parseKeyInfo(header: { kid?: unknown; alg?: unknown; jku?: unknown } | undefined): SignatureKeyInfo {
  const { kid, alg, jku } = header ?? {};
  if (typeof kid !== "string" || typeof alg !== "string")
    throw new VerificationError("it does not name its key (kid)");
  return typeof jku === "string" ? { kid, alg, jku } : { kid, alg };
}

function createNoInterfaceError(): VerificationError {
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
  return new A2AError("INVALID_AGENT_RESPONSE", text, { cause: failures[0] });
}
