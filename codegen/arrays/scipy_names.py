"""The functions of SciPy that the Python texts of a table may call: those that compute from arrays and numbers.

None reads or writes a file, changes a setting, or looks something up by a name that it is given. One that a version of
SciPy does not have is missed when the op is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..spec.vocabulary import words

SCIPY_FUNCTIONS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "fft": words(
            """
            dct dctn dst dstn fft fft2 fftfreq fftn fftshift fht fhtoffset hfft hfft2 hfftn idct idctn
            idst idstn ifft ifft2 ifftn ifftshift ifht ihfft ihfft2 ihfftn irfft irfft2 irfftn
            next_fast_len prev_fast_len rfft rfft2 rfftfreq rfftn
            """
        ),
        "integrate": words(
            """
            cumulative_simpson cumulative_trapezoid fixed_quad newton_cotes quad romb simpson trapezoid
            """
        ),
        "interpolate": words(
            """
            Akima1DInterpolator BarycentricInterpolator CubicHermiteSpline CubicSpline KroghInterpolator
            LinearNDInterpolator NearestNDInterpolator PchipInterpolator RBFInterpolator
            RegularGridInterpolator barycentric_interpolate griddata interp1d interpn krogh_interpolate
            lagrange make_interp_spline make_lsq_spline make_smoothing_spline pade pchip_interpolate
            """
        ),
        "linalg": words(
            """
            bandwidth block_diag cdf2rdf cho_factor cho_solve cho_solve_banded cholesky cholesky_banded
            circulant companion convolution_matrix coshm cosm cossin det dft diagsvd eig eig_banded eigh
            eigh_tridiagonal eigvals eigvals_banded eigvalsh eigvalsh_tridiagonal expm expm_cond
            expm_frechet fiedler fiedler_companion fractional_matrix_power hadamard hankel helmert
            hessenberg hilbert inv invhilbert invpascal ishermitian issymmetric khatri_rao ldl leslie
            logm lstsq lu lu_factor lu_solve matmul_toeplitz matrix_balance norm null_space ordqz orth
            orthogonal_procrustes pascal pinv pinvh polar qr qr_delete qr_insert qr_multiply qr_update
            qz rq rsf2csf schur signm sinhm sinm solve solve_banded solve_circulant solve_continuous_are
            solve_continuous_lyapunov solve_discrete_are solve_discrete_lyapunov solve_lyapunov
            solve_sylvester solve_toeplitz solve_triangular solveh_banded sqrtm subspace_angles svd
            svdvals tanhm tanm toeplitz
            """
        ),
        "ndimage": words(
            """
            affine_transform binary_closing binary_dilation binary_erosion binary_fill_holes
            binary_hit_or_miss binary_opening binary_propagation black_tophat center_of_mass convolve
            convolve1d correlate correlate1d distance_transform_bf distance_transform_cdt
            distance_transform_edt extrema fourier_ellipsoid fourier_gaussian fourier_shift
            fourier_uniform gaussian_filter gaussian_filter1d gaussian_gradient_magnitude
            gaussian_laplace generate_binary_structure grey_closing grey_dilation grey_erosion
            grey_opening histogram iterate_structure label laplace map_coordinates maximum
            maximum_filter maximum_filter1d maximum_position mean median median_filter minimum
            minimum_filter minimum_filter1d minimum_position morphological_gradient
            morphological_laplace percentile_filter prewitt rank_filter rotate shift sobel spline_filter
            spline_filter1d standard_deviation sum sum_labels uniform_filter uniform_filter1d variance
            watershed_ift white_tophat zoom
            """
        ),
        "optimize": words(
            """
            approx_fprime isotonic_regression linear_sum_assignment lsq_linear nnls rosen rosen_der
            rosen_hess rosen_hess_prod
            """
        ),
        "signal": words(
            """
            abcd_normalize argrelmax argrelmin band_stop_obj bessel besselap bilinear bilinear_zpk bode
            buttap butter buttord cheb1ap cheb1ord cheb2ap cheb2ord cheby1 cheby2 check_COLA check_NOLA
            chirp coherence cont2discrete convolve convolve2d correlate correlate2d correlation_lags csd
            cspline1d cspline1d_eval cspline2d czt czt_points dbode decimate deconvolve detrend
            dfreqresp dimpulse dlsim dstep ellip ellipap ellipord envelope fftconvolve filtfilt
            find_peaks findfreqs firls firwin firwin2 firwin_2d freqresp freqs freqs_zpk gammatone
            gauss_spline gausspulse get_window group_delay hilbert hilbert2 iircomb iirdesign iirfilter
            iirnotch iirpeak impulse invres invresz istft kaiser_atten kaiser_beta kaiserord lfilter
            lfilter_zi lfiltic lombscargle lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk lp2lp
            lp2lp_zpk lsim max_len_seq medfilt medfilt2d minimum_phase normalize oaconvolve order_filter
            peak_prominences peak_widths periodogram qspline1d qspline1d_eval qspline2d remez resample
            resample_poly residue residuez savgol_coeffs savgol_filter sawtooth sos2tf sos2zpk sosfilt
            sosfilt_zi sosfiltfilt sosfreqz spectrogram spline_filter square ss2tf ss2zpk step stft
            sweep_poly tf2sos tf2ss tf2zpk unique_roots unit_impulse upfirdn vectorstrength welch wiener
            zoom_fft zpk2sos zpk2ss zpk2tf
            """
        ),
        "sparse": words(
            """
            block_array block_diag coo_array diags diags_array eye eye_array find hstack identity
            issparse kron kronsum tril triu vstack
            """
        ),
        "spatial": words(
            """
            distance_matrix geometric_slerp minkowski_distance minkowski_distance_p procrustes
            """
        ),
        "special": words(
            """
            agm ai_zeros airy airye assoc_laguerre assoc_legendre_p assoc_legendre_p_all bdtr bdtrc
            bdtri bdtrik bdtrin bei bei_zeros beip beip_zeros ber ber_zeros bernoulli berp berp_zeros
            besselpoly beta betainc betaincc betainccinv betaincinv betaln bi_zeros binom boxcox
            boxcox1p btdtria btdtrib c_roots cbrt cg_roots chdtr chdtrc chdtri chdtriv chebyc chebys
            chebyt chebyu chndtr chndtridf chndtrinc chndtrix comb cosdg cosm1 cotdg dawsn digamma diric
            ellip_harm ellip_harm_2 ellip_normal ellipe ellipeinc ellipj ellipk ellipkinc ellipkm1
            elliprc elliprd elliprf elliprg elliprj entr erf erf_zeros erfc erfcinv erfcx erfi erfinv
            euler eval_chebyc eval_chebys eval_chebyt eval_chebyu eval_gegenbauer eval_genlaguerre
            eval_hermite eval_hermitenorm eval_jacobi eval_laguerre eval_legendre eval_sh_chebyt
            eval_sh_chebyu eval_sh_jacobi eval_sh_legendre exp1 exp10 exp2 expi expit expm1 expn exprel
            factorial factorial2 factorialk fdtr fdtrc fdtri fdtridfd fresnel fresnel_zeros
            fresnelc_zeros fresnels_zeros gamma gammainc gammaincc gammainccinv gammaincinv gammaln
            gammasgn gdtr gdtrc gdtria gdtrib gdtrix gegenbauer genlaguerre h1vp h2vp h_roots hankel1
            hankel1e hankel2 hankel2e he_roots hermite hermitenorm huber hyp0f1 hyp1f1 hyp2f1 hyperu i0
            i0e i1 i1e inv_boxcox inv_boxcox1p it2i0k0 it2j0y0 it2struve0 itairy iti0k0 itj0y0
            itmodstruve0 itstruve0 iv ive ivp j0 j1 j_roots jacobi jn jn_zeros jnjnp_zeros jnp_zeros
            jnyn_zeros js_roots jv jve jvp k0 k0e k1 k1e kei kei_zeros keip keip_zeros kelvin
            kelvin_zeros ker ker_zeros kerp kerp_zeros kl_div kn kolmogi kolmogorov kv kve kvp l_roots
            la_roots laguerre lambertw legendre legendre_p legendre_p_all lmbda log1p log_expit log_ndtr
            log_softmax log_wright_bessel loggamma logit logsumexp lpmv lqmn lqn mathieu_a mathieu_b
            mathieu_cem mathieu_even_coef mathieu_modcem1 mathieu_modcem2 mathieu_modsem1
            mathieu_modsem2 mathieu_odd_coef mathieu_sem modfresnelm modfresnelp modstruve multigammaln
            nbdtr nbdtrc nbdtri nbdtrik nbdtrin ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc nctdtr
            nctdtridf nctdtrinc nctdtrit ndtr ndtri ndtri_exp nrdtrimn nrdtrisd obl_ang1 obl_ang1_cv
            obl_cv obl_cv_seq obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv owens_t p_roots pbdn_seq pbdv
            pbdv_seq pbvv pbvv_seq pbwa pdtr pdtrc pdtri pdtrik perm poch polygamma powm1 pro_ang1
            pro_ang1_cv pro_cv pro_cv_seq pro_rad1 pro_rad1_cv pro_rad2 pro_rad2_cv ps_roots
            pseudo_huber psi radian rel_entr rgamma riccati_jn riccati_yn roots_chebyc roots_chebys
            roots_chebyt roots_chebyu roots_gegenbauer roots_genlaguerre roots_hermite roots_hermitenorm
            roots_jacobi roots_laguerre roots_legendre roots_sh_chebyt roots_sh_chebyu roots_sh_jacobi
            roots_sh_legendre round s_roots sh_chebyt sh_chebyu sh_jacobi sh_legendre shichi sici sinc
            sindg smirnov smirnovi softmax softplus spence sph_harm_y sph_harm_y_all sph_legendre_p
            sph_legendre_p_all spherical_in spherical_jn spherical_kn spherical_yn stdtr stdtridf
            stdtrit stirling2 struve t_roots tandg tklmbda ts_roots u_roots us_roots voigt_profile wofz
            wright_bessel wrightomega xlog1py xlogy y0 y0_zeros y1 y1_zeros y1p_zeros yn yn_zeros
            ynp_zeros yv yve yvp zeta zetac
            """
        ),
        "stats": words(
            """
            alexandergovern alpha anderson anderson_ksamp anglit ansari arcsine argus barnard_exact
            bartlett bernoulli beta betabinom betanbinom betaprime binom binomtest boltzmann
            boschloo_exact boxcox bradford brunnermunzel burr burr12 cauchy chatterjeexi chi chi2
            chi2_contingency chisquare circmean circstd circvar combine_pvalues cosine cramervonmises
            cramervonmises_2samp crystalball cumfreq describe dgamma differential_entropy
            directional_stats dirichlet dirichlet_multinomial dlaplace dpareto_lognorm dweibull
            energy_distance entropy epps_singleton_2samp erlang expectile expon exponnorm exponpow
            exponweib f f_oneway false_discovery_control fatiguelife fisher_exact fisk fligner
            foldcauchy foldnorm friedmanchisquare gamma gausshyper genexpon genextreme gengamma
            genhalflogistic genhyperbolic geninvgauss genlogistic gennorm genpareto geom gibrat gmean
            gompertz gstd gumbel_l gumbel_r gzscore halfcauchy halfgennorm halflogistic halfnorm hmean
            hypergeom hypsecant invgamma invgauss invweibull invwishart iqr irwinhall jarque_bera
            jf_skew_t johnsonsb johnsonsu kappa3 kappa4 kendalltau kruskal ks_2samp ksone kstat kstatvar
            kstwo kstwobign kurtosis kurtosistest landau laplace laplace_asymmetric levene levy levy_l
            linregress lmoment loggamma logistic loglaplace lognorm logrank logser loguniform lomax
            mannwhitneyu matrix_normal matrix_t maxwell median_abs_deviation median_test mielke mode
            moment mood moyal multinomial multivariate_hypergeom multivariate_normal multivariate_t
            nakagami nbinom ncf nchypergeom_fisher nchypergeom_wallenius nct ncx2 nhypergeom norm
            normal_inverse_gamma normaltest norminvgauss obrientransform page_trend_test pareto pearson3
            pearsonr percentileofscore planck pmean pointbiserialr poisson poisson_binom
            power_divergence powerlaw powerlognorm powernorm quantile quantile_test randint rankdata
            ranksums rayleigh rdist recipinvgauss reciprocal rel_breitwigner relfreq rice
            scoreatpercentile sem semicircular shapiro siegelslopes sigmaclip skellam skew skewcauchy
            skewnorm skewtest somersd spearmanr spearmanrho studentized_range t theilslopes tiecorrect
            tmax tmean tmin trapezoid triang trim1 trim_mean trimboth truncexpon truncnorm truncpareto
            truncweibull_min tsem tstd ttest_1samp ttest_ind ttest_ind_from_stats ttest_rel tukey_hsd
            tukeylambda tvar uniform uniform_direction variation vonmises vonmises_fisher vonmises_line
            wald wasserstein_distance wasserstein_distance_nd weibull_max weibull_min weightedtau
            wilcoxon wishart wrapcauchy yeojohnson yulesimon zipf zipfian zmap zscore
            """
        ),
    }
)
