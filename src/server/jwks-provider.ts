import type { JWK } from "../keys/index.ts";
import { buildCardSigningJwks, type CardSigningOptions } from "./card/card-signing.ts";
import type { PushSigner } from "./push/push-signer.ts";

/** What `/.well-known/jwks.json` answers. */
export interface JwksProvider {
  getJwks(): Promise<{ readonly getJwks: readonly JWK[] }>;
}

/**
 * The public keys of all that is signed here; undefined when nothing is. A key with two uses stands there once, because
 * verifiers refuse to choose between two of one name.
 */
export function createJwksProvider(
  push: PushSigner | undefined,
  signing: CardSigningOptions | readonly CardSigningOptions[] | undefined,
): JwksProvider | undefined {
  if (!push && !signing) return undefined;
  return {
    async getJwks() {
      const sets = await Promise.all([push?.getJwks(), signing && buildCardSigningJwks(signing)]);
      const all = sets.flatMap((set) => set?.keys ?? []);
      return { getJwks: [...new Map(all.map((key) => [JSON.stringify(key), key])).values()] };
    },
  };
}
