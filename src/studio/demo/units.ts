/** Convertible units by physical quantity, with the value of each unit in the base unit. */
const UNIT_FACTORS: Record<string, Record<string, number>> = {
  length: {
    m: 1,
    km: 1000,
    cm: 0.01,
    mm: 0.001,
    mi: 1609.344,
    yd: 0.9144,
    ft: 0.3048,
    in: 0.0254,
    nmi: 1852,
  },
  mass: { kg: 1, g: 0.001, mg: 1e-6, t: 1000, lb: 0.45359237, oz: 0.028349523125 },
  volume: { l: 1, ml: 0.001, m3: 1000, gal: 3.785411784, pt: 0.473176473, cup: 0.2365882365 },
  speed: { "m/s": 1, "km/h": 1 / 3.6, mph: 0.44704, kn: 1852 / 3600 },
  time: { s: 1, ms: 0.001, min: 60, h: 3600, d: 86_400, week: 604_800 },
  data: { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3 },
};

/**
 * Unit symbols by the common names of the units. The parser removes the plural "s" of a unit name before the
 * lookup.
 */
const UNIT_ALIASES: ReadonlyMap<string, string> = new Map([
  ["meter", "m"],
  ["metre", "m"],
  ["kilometer", "km"],
  ["kilometre", "km"],
  ["centimeter", "cm"],
  ["centimetre", "cm"],
  ["millimeter", "mm"],
  ["mile", "mi"],
  ["yard", "yd"],
  ["foot", "ft"],
  ["feet", "ft"],
  ["inch", "in"],
  ["inche", "in"],
  ["kilogram", "kg"],
  ["kilo", "kg"],
  ["gram", "g"],
  ["ton", "t"],
  ["tonne", "t"],
  ["pound", "lb"],
  ["ounce", "oz"],
  ["liter", "l"],
  ["litre", "l"],
  ["milliliter", "ml"],
  ["gallon", "gal"],
  ["pint", "pt"],
  ["kph", "km/h"],
  ["kmh", "km/h"],
  ["knot", "kn"],
  ["second", "s"],
  ["minute", "min"],
  ["hour", "h"],
  ["day", "d"],
  ["byte", "b"],
  ["kilobyte", "kb"],
  ["megabyte", "mb"],
  ["gigabyte", "gb"],
  ["celsius", "c"],
  ["fahrenheit", "f"],
  ["kelvin", "k"],
  ["°c", "c"],
  ["°f", "f"],
]);

const TO_KELVIN: Record<string, (value: number) => number> = {
  c: (value) => value + 273.15,
  f: (value) => ((value - 32) * 5) / 9 + 273.15,
  k: (value) => value,
};

const FROM_KELVIN: Record<string, (kelvin: number) => number> = {
  c: (kelvin) => kelvin - 273.15,
  f: (kelvin) => ((kelvin - 273.15) * 9) / 5 + 32,
  k: (kelvin) => kelvin,
};

/** Converts a value between two units of the same physical quantity. Throws an error if a unit is unknown. */
export function convertUnits(value: number, from: string, to: string): number {
  const [source, target] = [normalizeUnit(from), normalizeUnit(to)];
  const toKelvin = TO_KELVIN[source];
  const fromKelvin = FROM_KELVIN[target];
  if (toKelvin && fromKelvin) return roundToSignificantDigits(fromKelvin(toKelvin(value)));
  for (const units of Object.values(UNIT_FACTORS)) {
    const [sourceFactor, targetFactor] = [units[source], units[target]];
    if (sourceFactor !== undefined && targetFactor !== undefined)
      return roundToSignificantDigits((value * sourceFactor) / targetFactor);
  }
  const unknown = [from, to].find((name) => !isUnit(name));
  throw new RangeError(
    unknown === undefined ? `${from} cannot be converted to ${to}.` : `“${unknown}” is not a known unit.`,
  );
}

export function isUnit(name: string): boolean {
  const unit = normalizeUnit(name);
  return unit in TO_KELVIN || Object.values(UNIT_FACTORS).some((units) => Object.hasOwn(units, unit));
}

function normalizeUnit(name: string): string {
  const lower = name.toLowerCase();
  if (Object.values(UNIT_FACTORS).some((units) => Object.hasOwn(units, lower))) return lower;
  return UNIT_ALIASES.get(lower) ?? UNIT_ALIASES.get(lower.replace(/s$/, "")) ?? lower.replace(/s$/, "");
}

function roundToSignificantDigits(value: number): number {
  return Number(value.toPrecision(7));
}
