import { useEffect, useMemo, useState } from "preact/hooks";

/** Returns whether the window matches a media query, and renders again when the result changes. */
export function useMediaQuery(query: string): boolean {
  const list = useMemo(() => matchMedia(query), [query]);
  const [isMatch, setIsMatch] = useState(list.matches);
  useEffect(() => {
    const onChange = (): void => setIsMatch(list.matches);
    list.addEventListener("change", onChange);
    return () => list.removeEventListener("change", onChange);
  }, [list]);
  return isMatch;
}
