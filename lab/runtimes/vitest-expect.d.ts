/** The part of `@vitest/expect` that `portable-vitest.ts` uses. The package is only in the manifest of this folder. */
declare module "@vitest/expect" {
  type ChaiPlugin = (chai: unknown, utils: unknown) => void;
  export const chai: {
    use(plugin: ChaiPlugin): void;
    readonly expect: (value: unknown, message?: string) => object;
  };
  export const JestAsymmetricMatchers: ChaiPlugin;
  export const JestChaiExpect: ChaiPlugin;
  export const JestExtend: ChaiPlugin;
  export const ASYMMETRIC_MATCHERS_OBJECT: symbol;
  export const customMatchers: object;
}
