/** Whole hundredths add up without the rounding of fractions. */
export const toHundredths = (ru: number): number => Math.round(ru * 100);

export const fromHundredths = (hundredths: number): number => hundredths / 100;
