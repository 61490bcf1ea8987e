import type { AgentCard } from "../../protocol/index.ts";
import type { CardSigningOptions } from "./card-signing.ts";

/**
 * Signs an agent card with every signing key, and returns the card with the added signatures (A2A §8.4). If
 * an agent card contains empty values, each key adds two signatures. One signature omits empty values, as the
 * official SDKs do. The other signature includes empty values, as the specification requires.
 */
export async function signCard(
  card: AgentCard,
  cardSigning: CardSigningOptions | readonly CardSigningOptions[],
): Promise<AgentCard> {
  // Servers without signing keys do not load the cryptography.
  const { addCardSignatures } = await import("./card-signing.ts");
  return await addCardSignatures(card, cardSigning);
}
