import {
  importSigningKeyPair,
  buildJwks,
  signJws,
  type JSONWebKeySet,
  type SigningKeyPairOptions,
} from "../../wire/keys/index.ts";
import type { AgentCard, AgentCardSignature } from "../../protocol/index.ts";
import { canonicalizeCard } from "../../wire/canonical-card/index.ts";

/** Options for a private key that signs agent cards. */
export interface CardSigningOptions extends SigningKeyPairOptions {
  /**
   * URL of a JSON Web Key Set that contains the public key. Verifiers that trust the URL can fetch the key.
   * Default: none.
   */
  readonly jku?: string;
}

/** Implements `signCard`, which loads this file on first use. */
export async function addCardSignatures(
  card: AgentCard,
  cardSigning: CardSigningOptions | readonly CardSigningOptions[],
): Promise<AgentCard> {
  const { specification, sdk } = canonicalizeCard(JSON.parse(JSON.stringify(card)));
  const payloads = [...new Set([specification, sdk])].map((text) => new TextEncoder().encode(text));
  const signatures: AgentCardSignature[] = [];
  for (const options of toArray(cardSigning)) {
    const signer = await importSigningKeyPair(options);
    const header = { typ: "JOSE", ...(options.jku === undefined ? {} : { jku: options.jku }) };
    for (const payload of payloads) signatures.push({ ...(await signJws(payload, signer, header)) });
  }
  return { ...card, signatures: [...(card.signatures ?? []), ...signatures] };
}

/** Returns the public keys that verify signed agent cards. Rejects if a private key cannot sign. */
export async function buildCardSigningJwks(
  cardSigning: CardSigningOptions | readonly CardSigningOptions[],
): Promise<JSONWebKeySet> {
  return buildJwks(await Promise.all(toArray(cardSigning).map(importSigningKeyPair)));
}

function toArray(
  cardSigning: CardSigningOptions | readonly CardSigningOptions[],
): readonly CardSigningOptions[] {
  return "privateKey" in cardSigning ? [cardSigning] : cardSigning;
}
