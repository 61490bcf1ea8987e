import {
  createSigner,
  buildJwks,
  signJws,
  type JSONWebKeySet,
  type SignerOptions,
} from "../../keys/index.ts";
import type { AgentCard, AgentCardSignature } from "../../protocol/index.ts";
import { v1 } from "../../wire/index.ts";

/** Options for a key that signs agent cards. */
export interface CardSigningOptions extends SignerOptions {
  /** URL of a JSON Web Key Set with the public key, for verifiers that trust this URL. Default: none. */
  readonly jku?: string;
}

/**
 * Returns the card with an added signature by each key (A2A §8.4). A card with empty values receives two
 * signatures by each key, because the official SDKs omit those values from the signed content and the
 * specification does not.
 */
export async function signCard(
  card: AgentCard,
  cardSigning: CardSigningOptions | readonly CardSigningOptions[],
): Promise<AgentCard> {
  const { specification, sdk } = v1.canonicalizeCard(JSON.parse(JSON.stringify(card)));
  const payloads = [...new Set([specification, sdk])].map((text) => new TextEncoder().encode(text));
  const signatures: AgentCardSignature[] = [];
  for (const options of toArray(cardSigning)) {
    const signer = await createSigner(options);
    const header = { typ: "JOSE", ...(options.jku === undefined ? {} : { jku: options.jku }) };
    for (const payload of payloads) signatures.push({ ...(await signJws(payload, signer, header)) });
  }
  return { ...card, signatures: [...(card.signatures ?? []), ...signatures] };
}

/** Returns the public key set of the card signing keys. Rejects for a key that cannot sign. */
export async function buildCardSigningJwks(
  cardSigning: CardSigningOptions | readonly CardSigningOptions[],
): Promise<JSONWebKeySet> {
  return buildJwks(await Promise.all(toArray(cardSigning).map(createSigner)));
}

function toArray(
  cardSigning: CardSigningOptions | readonly CardSigningOptions[],
): readonly CardSigningOptions[] {
  return "privateKey" in cardSigning ? [cardSigning] : cardSigning;
}
