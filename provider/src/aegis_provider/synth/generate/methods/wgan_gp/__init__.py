"""Wasserstein GAN with gradient penalty (Gulrajani et al. 2017), with regularisers for privacy and value.

The regularisers are those of Bagad et al., *Data-Sharing Economy: Value-Addition from Data meets Privacy* (2021), with
the signs described in its text; see decision 44.
"""

from aegis_provider.synth.generate.methods.wgan_gp.method import WganGp

__all__ = ["WganGp"]
