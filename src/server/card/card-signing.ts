import {
  createSigner,
  buildJwks,
  signJws,
  type JSONWebKeySet,
  type SignerOptions,
} from "../../keys/index.ts";
import type { AgentCard, AgentCardSignature } from "../../protocol/index.ts";
import { v1 } from "../../wire/index.ts";

/** A key that signs cards. */
export interface CardSigningOptions extends SignerOptions {
  /** Where the public key can be found, for verifiers that trust that place: the URL of a JSON Web Key Set. */
  readonly jku?: string;
}

/**
 * The card with a signature by every key behind those that it has (A2A §8.4). A card with empty values gets two by each
 * key, because the official SDKs leave those out of what they verify and the specification does not.
 */
export async function signCard(
  card: AgentCard,
  signing: CardSigningOptions | readonly CardSigningOptions[],
): Promise<AgentCard> {
  const { specification, sdk } = v1.canonicalizeCard(JSON.parse(JSON.stringify(card)));
  const payloads = [...new Set([specification, sdk])].map((text) => new TextEncoder().encode(text));
  const made: AgentCardSignature[] = [];
  for (const options of toArray(signing)) {
    const signer = await createSigner(options);
    const header = { typ: "JOSE", ...(options.jku === undefined ? {} : { jku: options.jku }) };
    for (const payload of payloads) made.push({ ...(await signJws(payload, signer, header)) });
  }
  return { ...card, signatures: [...(card.signatures ?? []), ...made] };
}

/** What a JWKS endpoint answers for the keys that sign cards; fails for a key that can not sign. */
export async function buildCardSigningJwks(
  signing: CardSigningOptions | readonly CardSigningOptions[],
): Promise<JSONWebKeySet> {
  return buildJwks(await Promise.all(toArray(signing).map(createSigner)));
}

function toArray(signing: CardSigningOptions | readonly CardSigningOptions[]): readonly CardSigningOptions[] {
  return "privateKey" in signing ? [signing] : signing;
}
