import type { Attack } from "../attack.ts";

/** Imports the attack in `attacks/NAME.ts`. */
export async function loadAttack<Kind extends Attack["kind"] = Attack["kind"]>(
  name: string,
  kind?: Kind,
): Promise<Extract<Attack, { kind: Kind }>> {
  const { attack } = (await import(new URL(`../attacks/${name}.ts`, import.meta.url).href)) as {
    attack?: Attack;
  };
  if (!attack) throw new Error(`attacks/${name}.ts exports no "attack"`);
  if (kind !== undefined && attack.kind !== kind) throw new Error(`${name} is not a ${kind} attack`);
  return attack as Extract<Attack, { kind: Kind }>;
}
