import { createCardVerifier, type CardVerifier } from "../../client/index.ts";
import { A2AError, isObject, type AgentCardSignature } from "../../protocol/index.ts";
import type { ConsoleCardSignature } from "../console-api/index.ts";

/** Maximum number of signatures that the console checks of a card, because the agent chooses their number. */
const MAX_SIGNATURES = 8;

/** Sources of the keys for the signatures of a card. */
export interface CardKeySources {
  /** Verifies a card with the keys that the operator of the console trusts. By default, no keys are trusted. */
  readonly verifyWithTrustedKeys?: CardVerifier | undefined;
  /** Fetches the keys that the origin of the card publishes. Absent for a recorded card, whose origin is not called. */
  readonly fetch?: typeof fetch | undefined;
}

/** The JSON of a card as its server sent it, and its signatures. */
interface SignedCard {
  readonly json: unknown;
  readonly cardUrl: string;
  readonly signatures: readonly AgentCardSignature[];
}

/** The header of a signature, which the agent has chosen. */
interface SignatureHeader {
  readonly kid?: string | undefined;
  readonly jku?: string | undefined;
}

type SignatureOutcome = Pick<ConsoleCardSignature, "status"> & { readonly detail: string };

/**
 * Checks the signatures of a card. A signature by a trusted key makes the card `verified`. A signature by a key that the
 * origin of the card publishes makes the card `self-signed`, because the owner of the origin can replace both. A
 * signature that does not match its key makes the card `invalid`.
 */
export async function checkCardSignatures(
  { json, cardUrl, signatures }: SignedCard,
  { verifyWithTrustedKeys, fetch: fetchFunction }: CardKeySources,
): Promise<ConsoleCardSignature> {
  if (signatures.length === 0) return { status: "unsigned", keyIds: [] };
  const checked = signatures.slice(0, MAX_SIGNATURES).map((signature) => {
    return { signature, header: decodeHeader(signature) };
  });
  const keyIds = checked.map(({ header }) => header.kid ?? "unknown");
  // The canonical form of A2A 1.0 does not contain the interfaces of a 0.3 card.
  if (!isObject(json) || !("supportedInterfaces" in json || "supported_interfaces" in json))
    return { status: "unverified", keyIds, detail: "Only the signatures of A2A 1.0 cards can be verified." };
  const outcomes: SignatureOutcome[] = [];
  for (const { signature, header } of checked) {
    const card = { ...json, signatures: [signature] };
    const trusted = verifyWithTrustedKeys && (await verifyWithKeys(card, verifyWithTrustedKeys, "verified"));
    if (trusted && trusted.status !== "unverified") outcomes.push(trusted);
    else if (fetchFunction) outcomes.push(await verifyWithOriginKeys(card, header, cardUrl, fetchFunction));
    else outcomes.push(trusted ?? { status: "unverified", detail: "The console has no trusted key." });
  }
  return { ...chooseOutcome(outcomes), keyIds };
}

/** Statuses in order of precedence. A card needs one good signature. */
const STATUSES = ["verified", "self-signed", "invalid", "unverified"] as const;

function chooseOutcome(outcomes: readonly SignatureOutcome[]): SignatureOutcome {
  const status = STATUSES.find((one) => outcomes.some((outcome) => outcome.status === one)) ?? "unverified";
  const details = outcomes.filter((outcome) => outcome.status === status).map(({ detail }) => detail);
  return { status, detail: [...new Set(details)].join(" ") };
}

async function verifyWithOriginKeys(
  card: unknown,
  { jku }: SignatureHeader,
  cardUrl: string,
  fetchFunction: typeof fetch,
): Promise<SignatureOutcome> {
  const origin = URL.parse(cardUrl)?.origin ?? "";
  // The agent chooses the URL in the header, so that another origin says nothing about the agent.
  const keysUrl =
    jku !== undefined && URL.parse(jku)?.origin === origin ? jku : `${origin}/.well-known/jwks.json`;
  try {
    const verifier = createCardVerifier({ jwksUrls: keysUrl, fetch: fetchFunction });
    const { status, detail } = await verifyWithKeys(card, verifier, "self-signed");
    return {
      status,
      detail: status === "self-signed" ? `${detail} The agent publishes it at ${keysUrl}.` : detail,
    };
  } catch (error) {
    // The URL of the keys is insecure.
    return { status: "unverified", detail: error instanceof Error ? error.message : String(error) };
  }
}

async function verifyWithKeys(
  card: unknown,
  verify: CardVerifier,
  success: "verified" | "self-signed",
): Promise<SignatureOutcome> {
  try {
    const { kid, alg } = await verify(card);
    const kind = success === "verified" ? "trusted key" : "key";
    return { status: success, detail: `The ${kind} ${kid} (${alg}) has signed the card.` };
  } catch (thrown) {
    const error = A2AError.from(thrown);
    if ("unknownKey" in error.metadata)
      return { status: "unverified", detail: "The console has no key for the signature." };
    const isBroken = error.reason === "INVALID_AGENT_RESPONSE";
    return { status: isBroken ? "invalid" : "unverified", detail: error.message };
  }
}

function decodeHeader({ protected: encoded }: AgentCardSignature): SignatureHeader {
  try {
    const json: unknown = JSON.parse(Buffer.from(encoded, "base64url").toString());
    if (!isObject(json)) return {};
    const { kid, jku } = json;
    return {
      kid: typeof kid === "string" ? kid : undefined,
      jku: typeof jku === "string" ? jku : undefined,
    };
  } catch {
    return {};
  }
}
