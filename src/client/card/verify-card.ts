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

/** What a signature says of its key; not to be believed before it is verified. */
export interface SignatureKeyInfo {
  readonly kid: string;
  readonly alg: string;
  /** Where the signer says that its keys are. Nothing is ever fetched from there because a card says so. */
  readonly jku?: string;
}

/** Whose signatures on a card count: at least one of the three. */
export interface CardTrustOptions extends FetchKeysOptions {
  /** Public keys at hand. */
  readonly keys?: JSONWebKeySet | readonly JWK[];
  /** URLs of trusted key sets (JWKS), over HTTPS. Fetched when they are needed, and kept as long as the verifier. */
  readonly jwksUrls?: string | readonly string[];
  /** Finds a trusted public key, for example by provider; undefined for none. */
  readonly findKey?: (key: SignatureKeyInfo) => JWK | undefined | Promise<JWK | undefined>;
  /**
   * `specification` takes only signatures over the form of A2A §8.4.1. Default `any`: also over the official SDKs' form,
   * which leaves out empty values, and with them, for example, that a scheme without scopes is required.
   */
  readonly canonicalForm?: "specification" | "any";
}

/** The signature that holds, and what it is over. */
export interface VerifiedSignature extends SignatureKeyInfo {
  readonly canonicalForm: "specification" | "sdk";
}

/** Verifies cards, given as the JSON that was served. */
export type CardVerifier = (card: unknown) => Promise<VerifiedSignature>;

/** Each costs a verification, and whoever serves a card chooses how many it has. */
const MAX_SIGNATURES = 16;

/**
 * Verifies that a card, as the JSON that was served, is signed by a trusted key (A2A §8.4.3). Rejects with
 * INVALID_AGENT_RESPONSE when no signature holds, and with UNAVAILABLE when keys could not be fetched.
 */
export function verifyCard(card: unknown, trust: CardTrustOptions): Promise<VerifiedSignature> {
  return createCardVerifier(trust)(card);
}

/** The same for several cards: fetched keys are kept between them. */
export function createCardVerifier(trust: CardTrustOptions): CardVerifier {
  const sources = createKeySets(trust);
  if (sources.length === 0) {
    throw new Error("Nobody's signature would count; give the verifier trusted keys, jwks or find.");
  }
  return async (card) => {
    const { specification, sdk } = v1.canonicalizeCard(card);
    const forms = {
      specification,
      ...(trust.canonicalForm === "specification" || sdk === specification ? {} : { sdk }),
    };
    const { name, signatures = [], supportedInterfaces } = v1.decodeCard(card);
    // Where a card of 0.3 leads stands in members that no signature of 1.0 is over.
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

/** What a protected header names; A2A §8.4.2 wants the key named. */
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
  // A fault on the way to the keys, or in the function that finds them, says nothing of the card.
  const otherError = failures.find((failure) => !(failure instanceof VerificationError));
  if (otherError instanceof KeysUnavailableError) {
    const text = `Nobody can tell who signed the card of ${JSON.stringify(name.slice(0, 80))}: ${otherError.message}. Try again later.`;
    return new A2AError("UNAVAILABLE", text, { cause: otherError });
  }
  if (otherError !== undefined) return otherError;
  const reason =
    count === 0
      ? "it is not signed"
      : [...new Set(failures.map((failure) => (failure as VerificationError).message))].join("; ");
  const text = `The card of ${JSON.stringify(name.slice(0, 80))} is signed by nobody who is trusted: ${reason}. Trust the key of its signer, or connect without verification.`;
  return new A2AError("INVALID_AGENT_RESPONSE", text, { cause: failures[0] });
}
