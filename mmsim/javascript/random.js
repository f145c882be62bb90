/** The words of the state of MT19937. */
const STATE_WORDS = 624;
const STATE_MIDDLE = 397;

/**
 * The random numbers of NumPy's frozen `RandomState(seed)`: MT19937 (Matsumoto and Nishimura, ACM TOMACS 8, 1998), with
 * a number below 2^32 as the seed.
 */
export class FrozenRandom {
  constructor(seed) {
    this.state = new Uint32Array(STATE_WORDS);
    this.at = STATE_WORDS;
    this.state[0] = seed;
    for (let at = 1; at < STATE_WORDS; at += 1) {
      const before = this.state[at - 1];
      this.state[at] = Math.imul(1812433253, before ^ (before >>> 30)) + at;
    }
  }

  /** The next 32 bits. */
  next() {
    if (this.at === STATE_WORDS) this.renew();
    let word = this.state[this.at++];
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    return (word ^ (word >>> 18)) >>> 0;
  }

  /** Compute the next words of the state. */
  renew() {
    const { state } = this;
    for (let at = 0; at < STATE_WORDS; at += 1) {
      const mixed = (state[at] & 0x80000000) | (state[(at + 1) % STATE_WORDS] & 0x7fffffff);
      state[at] = state[(at + STATE_MIDDLE) % STATE_WORDS] ^ (mixed >>> 1) ^ (mixed & 1 ? 0x9908b0df : 0);
    }
    this.at = 0;
  }

  /** A whole number from 0 to `most`, below 2^32: the first that fits, of as many bits. */
  upTo(most) {
    if (most === 0) return 0;
    const unused = Math.clz32(most);
    for (;;) {
      const number = (this.next() << unused) >>> unused;
      if (number <= most) return number;
    }
  }

  /** `count` whole numbers from 0 to before `end`: `randint(end, size=count)`. */
  integers(end, count) {
    return Array.from({ length: count }, () => this.upTo(end - 1));
  }

  /** A permutation of the whole numbers before `end`: `permutation(end)`. */
  permutation(end) {
    const found = Array.from({ length: end }, (_, at) => at);
    for (let at = end - 1; at > 0; at -= 1) {
      const other = this.upTo(at);
      [found[at], found[other]] = [found[other], found[at]];
    }
    return found;
  }
}
